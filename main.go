// Command lshark reads Lustre network traffic and shows what every RPC says.
package main

import "github.com/lshark/lshark/internal/cli"

func main() { cli.Main() }
