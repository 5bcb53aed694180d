package rules

import "fmt"

// size returns a number of bytes as in "340 bytes", "34 kB" or "1.2 MB".
func size(n int64) string {
	switch v := float64(n); {
	case v >= 999.5e9:
		return fmt.Sprintf("%.1f TB", v/1e12)
	case v >= 999.5e6:
		return fmt.Sprintf("%.1f GB", v/1e9)
	case v >= 10e6:
		return fmt.Sprintf("%.0f MB", v/1e6)
	case v >= 999.5e3:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0f kB", v/1e3)
	}
	return plural(n, "byte")
}

// binarySize returns a number of bytes as in "22 MiB": in the units of lfs df and of
// quota limits.
func binarySize(bytes uint64) string {
	const units = "KMGTPE"
	if bytes < 1<<10 {
		return plural(int64(bytes), "byte")
	}
	size, unit := float64(bytes), -1
	for size >= 1<<10 && unit < len(units)-1 {
		size /= 1 << 10
		unit++
	}
	precision := 0
	if size < 10 && size != float64(int64(size)) {
		precision = 1
	}
	return formatFloat(size, precision) + " " + units[unit:unit+1] + "iB"
}
