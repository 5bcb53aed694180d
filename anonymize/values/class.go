package values

// Class is what a field tells about a site.
type Class uint8

// The classes.
const (
	Unclassified Class = iota // a declaration without a class; removed
	Harmless                  // kept
	Name                      // of files, directories, jobs, hosts, file systems, pools
	Address                   // NIDs, IP and hardware addresses
	Identity                  // user, group and project IDs, UUIDs
	Data                      // removed
)
