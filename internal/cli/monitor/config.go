package monitor

import (
	"bufio"
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

// givenFlag is a flag on the command line, with its values.
type givenFlag struct {
	name   string
	values []string
}

type config struct {
	flags *pflag.FlagSet
	given []givenFlag // on the command line
}

// recordGiven notes which flags are given on the command line.
func (c *config) recordGiven() {
	c.flags.Visit(func(f *pflag.Flag) {
		g := givenFlag{name: f.Name, values: []string{f.Value.String()}}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			g.values = list.GetSlice()
		}
		c.given = append(c.given, g)
	})
}

// isGiven reports whether a flag is given on the command line.
func (c *config) isGiven(name string) bool {
	return slices.ContainsFunc(c.given, func(g givenFlag) bool { return g.name == name })
}

// read reads the file of settings, if there is one.
func (c *config) read(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.setLine(line); err != nil {
			return exit.UsageError{Err: fmt.Errorf("%s:%d: %w", path, n, err)}
		}
	}
	return lines.Err()
}

// setLine sets a flag by a line NAME = VALUE, unless the command line has it.
func (c *config) setLine(line string) error {
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		return errors.New("must be NAME = VALUE")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	f := c.flags.Lookup(name)
	switch {
	case f == nil || slices.Contains(notInFile, name):
		var names []string
		c.flags.VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(notInFile, f.Name) {
				names = append(names, f.Name)
			}
		})
		return exit.UnknownName("setting", name, names)
	case c.isGiven(name):
		return nil
	}
	if err := f.Value.Set(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.Changed = true
	return nil
}
