package capture

import "os"

// FileNames returns a short name for each path, in the order of the paths: its
// last element, with as many of the elements before it as are needed to tell it
// from the other paths. The names of equal paths are equal.
func FileNames(paths []string) []string {
	names := make([]string, len(paths))
	for n, left := 1, len(paths); left > 0; n++ {
		users := make(map[string]string) // the path with a name, empty when there are several
		for _, path := range paths {
			name := lastElements(path, n)
			if other, taken := users[name]; taken && other != path {
				path = ""
			}
			users[name] = path
		}
		for i, path := range paths {
			if name := lastElements(path, n); names[i] == "" && users[name] == path {
				names[i] = name
				left--
			}
		}
	}
	return names
}

// lastElements returns the last n elements of a path, or all of it.
func lastElements(path string, n int) string {
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			if n--; n == 0 {
				return path[i+1:]
			}
		}
	}
	return path
}
