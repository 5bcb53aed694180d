// Package extcap is the command by which Wireshark captures Lustre: Wireshark runs
// every program in its extcap folder and learns by arguments such as
// --extcap-interfaces and --extcap-config which interfaces the program has and how
// they are configured (answers.go). With --capture it gets the packets through a
// FIFO, from an interface of this host (capture.go) or of another one (remote.go).
// The command also puts a link to the program into that folder (install.go), makes a
// profile with columns and colouring rules (profile.go), and a plugin in Lua that reads
// messages as fields (lua.go, lshark.lua).
package extcap
