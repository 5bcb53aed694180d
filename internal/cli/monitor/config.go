package monitor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
)

// notInFile are the flags that a file of settings cannot have.
var notInFile = []string{"config", "help", "list-interfaces"}

// readConfig reads the file of settings into flags, if there is one.
func readConfig(flags *pflag.FlagSet, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := setLine(flags, line); err != nil {
			return exit.UsageError{Err: fmt.Errorf("%s:%d: %w", path, i+1, err)}
		}
	}
	return err
}

// setLine sets a flag by a line NAME = VALUE, unless the command line has it.
func setLine(flags *pflag.FlagSet, line string) error {
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		return errors.New("must be NAME = VALUE")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	f := flags.Lookup(name)
	switch {
	case f == nil || slices.Contains(notInFile, name):
		var names []string
		flags.VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(notInFile, f.Name) {
				names = append(names, f.Name)
			}
		})
		return exit.UnknownName("setting", name, names)
	case f.Changed: // by the command line
		return nil
	}
	if err := f.Value.Set(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
