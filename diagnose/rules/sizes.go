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
