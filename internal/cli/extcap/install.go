package extcap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// The names of the link to the program, and of the plugin.
const (
	linkName   = "lshark"
	pluginName = "lshark.lua"
)

// installation holds the flags for adding lshark to Wireshark, and removing it.
type installation struct {
	install, uninstall, profile bool
	dir                         string
}

func (i *installation) isSet() bool { return i.install || i.uninstall }

func (i *installation) check() error {
	switch {
	case i.install && i.uninstall:
		return exit.Usagef("--install and --uninstall exclude each other")
	case i.profile && !i.isSet():
		return exit.Usagef("--profile needs --install or --uninstall")
	case i.dir != "" && !i.isSet():
		return exit.Usagef("--dir needs --install or --uninstall")
	}
	return nil
}

func (i *installation) run(sys *iostreams.IO) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if i.dir != "" && !i.profile {
		return i.link(sys, self, i.dir)
	}
	folders, err := findFolders(sys)
	if err != nil {
		return err
	}
	err = errors.Join(i.link(sys, self, cmp.Or(i.dir, folders.extcap)),
		i.files(sys, folders.lua, filepath.Join(folders.lua, pluginName), textFile{pluginName, luaPlugin()}))
	if !i.profile {
		return err
	}
	dir := filepath.Join(folders.config, "profiles", profileName)
	err = errors.Join(err, i.files(sys, dir, dir, profileFiles...))
	if i.uninstall && os.Remove(dir) == nil { // nothing else was in it
		err = errors.Join(err, note(sys, "removed", dir))
	}
	return err
}

// link makes or removes the link to the program in a folder. It may be one to any path that ends
// in the program's name, even if nothing is there any more.
func (i *installation) link(sys *iostreams.IO, self, dir string) error {
	path := filepath.Join(dir, linkName)
	switch target, err := os.Readlink(path); {
	case errors.Is(err, fs.ErrNotExist):
		if i.uninstall {
			sys.Say("%s: not installed", path)
			return nil
		}
	case err != nil || target != self && filepath.Base(target) != linkName:
		return fmt.Errorf("%s: is not a link to lshark; remove it yourself", iostreams.Printable(path))
	default:
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if i.uninstall {
		return note(sys, "removed", path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(self, path); err != nil {
		return err
	}
	return note(sys, "installed", path)
}

// files writes files into a folder, and notes that, or removes them. What the user has changed stays.
func (i *installation) files(sys *iostreams.IO, dir, installed string, files ...textFile) error {
	if i.install {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		old, err := os.ReadFile(path)
		isOther := err == nil && !isOurFile(old)
		switch {
		case i.install && isOther && f.name != recentFile:
			return fmt.Errorf("%s: is not a file of lshark; remove it yourself", iostreams.Printable(path))
		case i.install && isOther: // the user's widths
		case i.install:
			err = os.WriteFile(path, []byte(f.text), 0o644)
		case isOther:
			sys.Say("%s: was changed, and is kept", path)
		case errors.Is(err, fs.ErrNotExist):
			sys.Say("%s: not installed", path)
			err = nil
		case err == nil:
			if err = os.Remove(path); err == nil {
				err = note(sys, "removed", path)
			}
		}
		if err != nil {
			return err
		}
	}
	if i.uninstall {
		return nil
	}
	return note(sys, "installed", installed)
}

// isOurFile reports whether a file begins with the comment that all versions
// of this program write. Wireshark replaces the comment when it saves the file.
func isOurFile(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(first, []byte("of lshark for Wireshark."))
}

func note(sys *iostreams.IO, what, path string) error {
	_, err := fmt.Fprintf(sys.Out, "%s %s\n", what, iostreams.Printable(path))
	return err
}

type folders struct{ config, extcap, lua string }

// findFolders returns the folders as tshark or Wireshark name them; without either,
// those of Wireshark 4.2 and later.
func findFolders(sys *iostreams.IO) (folders, error) {
	for _, program := range []string{"tshark", "wireshark"} {
		out, err := exec.Command(program, "-G", "folders").Output()
		if err != nil {
			continue
		}
		if f := parseFolders(string(out)); f.config != "" {
			return f, nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return folders{}, err
	}
	config := filepath.Join(cmp.Or(sys.Env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "wireshark")
	lib := filepath.Join(home, ".local", "lib", "wireshark")
	return folders{config, filepath.Join(lib, "extcap"), filepath.Join(lib, "plugins")}, nil
}

// parseFolders reads the output of tshark -G folders: a name, a colon, and a path on
// each line. Wireshark before 4.2 looks for programs in the extcap folder of the
// configuration, and does not list it.
func parseFolders(text string) (f folders) {
	for line := range strings.Lines(text) {
		name, path, _ := strings.Cut(line, ":")
		path = strings.TrimSpace(path)
		switch name {
		case "Personal configuration":
			f.config = path
		case "Personal Extcap path":
			f.extcap = path
		case "Personal Lua Plugins":
			f.lua = path
		}
	}
	f.extcap = cmp.Or(f.extcap, filepath.Join(f.config, "extcap"))
	f.lua = cmp.Or(f.lua, filepath.Join(f.config, "plugins")) // Wireshark looks there, too
	return f
}
