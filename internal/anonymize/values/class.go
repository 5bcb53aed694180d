package values

// Class is what a field shows about a site.
type Class uint8

// The classes.
const (
	Harmless Class = iota // nothing; kept
	Name                  // of files, directories, jobs, hosts, file systems, pools; replaced
	Address               // NIDs, IP and hardware addresses; replaced
	Identity              // IDs of users, groups and projects, UUIDs; replaced
	Data                  // of files, keys, tokens, unknown bytes; removed
)

// String returns the name of the class.
func (c Class) String() string {
	return [...]string{"harmless", "name", "address", "identity", "data"}[c]
}

// MarshalText returns the name, for JSON.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
