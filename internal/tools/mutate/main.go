// Command mutate shows what the tests of the protocol's declarations would not notice. It makes many
// small errors in the Go files of the packages that are its arguments, runs the tests of -tests with each
// of them, and prints the errors with which they pass.
//
// All errors of a run are compiled into the same test programs, each behind a condition: an environment
// variable says which one is made. So a run compiles once, and no file of the repository changes.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	var o options
	flag.IntVar(&o.n, "n", 100, "errors to try, as many of each kind; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "number that selects them")
	flag.StringVar(&o.kinds, "kinds", "", "comma-separated kinds of errors (default all but threshold): "+strings.Join(kindNames, " "))
	flag.StringVar(&o.tests, "tests", "./opcodes ./dissect", "packages whose tests run")
	flag.BoolVar(&o.list, "list", false, "print the errors, and run no test")
	flag.Parse()
	if err := o.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	n            int
	seed         uint64
	kinds, tests string
	list         bool
}

// mutation is an error in a file.
type mutation struct {
	kind, what string
	file       string
	line       int
	texts      []insertion
}

func (o options) run(dirs []string) error {
	if len(dirs) == 0 {
		return errors.New("no package given, such as ./opcodes")
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	var all []mutation
	for _, dir := range dirs {
		found, err := inPackage(filepath.Clean(dir), random)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	chosen := o.choose(all, random)
	if len(chosen) == 0 {
		return errors.New("nothing to change")
	}
	if o.list {
		for _, m := range chosen {
			fmt.Println(m)
		}
		return nil
	}
	bin, err := os.MkdirTemp("", "lshark-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	programs, err := o.build(bin, chosen)
	if err != nil {
		return err
	}
	return try(chosen, programs)
}

func (m mutation) String() string {
	return fmt.Sprintf("%-9s %s:%d: %s", m.kind, m.file, m.line, strings.Join(strings.Fields(m.what), " "))
}

// choose returns a sample with as many errors of each kind, as far as there are so many.
func (o options) choose(all []mutation, random *rand.Rand) (chosen []mutation) {
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	wanted := strings.Split(o.kinds, ",")
	if o.kinds == "" {
		wanted = slices.DeleteFunc(slices.Clone(kindNames), func(kind string) bool { return kind == "threshold" })
	}
	var kinds [][]mutation
	for _, kind := range wanted {
		kinds = append(kinds, slices.DeleteFunc(slices.Clone(all), func(m mutation) bool { return m.kind != kind }))
	}
	for i := 0; i < len(all); i++ {
		for _, list := range kinds {
			if i < len(list) && (o.n == 0 || len(chosen) < o.n) {
				chosen = append(chosen, list[i])
			}
		}
	}
	slices.SortFunc(chosen, func(a, b mutation) int {
		return cmp.Or(slices.Index(kindNames, a.kind)-slices.Index(kindNames, b.kind), cmp.Compare(a.file, b.file), a.line-b.line)
	})
	return chosen
}

// inPackage finds what can be changed in a package.
func inPackage(dir string, random *rand.Rand) ([]mutation, error) {
	files := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	p := &pkg{files: files, random: random, groups: make(map[string][]string), words: make(map[string]string), numbers: make(map[string]bool)}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, source{name, text, tree})
	}
	if len(p.sources) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	for _, look := range []func(){p.collect, p.find} {
		for i := range p.sources {
			p.source = &p.sources[i]
			look()
		}
	}
	return p.found, nil
}

// support is what the changed files call. It is a file of its own in their package.
const support = `package %s

import "os"

func mutated(n string) bool { return os.Getenv("LSHARK_MUTATION") == n }

func either[T any](n string, was, now T) T {
	if mutated(n) {
		return now
	}
	return was
}

var _ = either[int]
`

// build compiles the tests with all mutations, and returns the programs.
func (o options) build(bin string, list []mutation) (programs []string, err error) {
	inserted := make(map[string][]insertion)
	for n, m := range list {
		for _, t := range m.texts {
			t.text = strings.ReplaceAll(t.text, "§", strconv.Quote(strconv.Itoa(n)))
			inserted[m.file] = append(inserted[m.file], t)
		}
	}
	overlay := make(map[string]string)
	put := func(file string, text []byte) {
		overlay[file] = filepath.Join(bin, strconv.Itoa(len(overlay))+".go")
		err = errors.Join(err, os.WriteFile(overlay[file], text, 0o600))
	}
	for name, texts := range inserted {
		original, errRead := os.ReadFile(name)
		file, errAbs := filepath.Abs(name)
		if err := errors.Join(errRead, errAbs); err != nil {
			return nil, err
		}
		put(file, insert(original, texts))
		dir := filepath.Dir(file)
		put(filepath.Join(dir, "mutations_support.go"), fmt.Appendf(nil, support, filepath.Base(dir)))
	}
	config, errJSON := json.Marshal(map[string]any{"Replace": overlay})
	file := filepath.Join(bin, "overlay.json")
	if err := errors.Join(err, errJSON, os.WriteFile(file, config, 0o600)); err != nil {
		return nil, err
	}
	for i, dir := range strings.Fields(o.tests) {
		program := filepath.Join(bin, strconv.Itoa(i)+".test")
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", program, dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", dir, err, out)
		}
		if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
			continue // no tests
		}
		programs = append(programs, dir+" "+program)
	}
	return programs, nil
}

// insertion is text that is put in front of the byte at a place, § in it stands for the number of the
// mutation. At the same place, what ends stands before what begins, and the smaller part is inside.
type insertion struct {
	at, begins, size int
	text             string
}

func insert(original []byte, texts []insertion) []byte {
	slices.SortStableFunc(texts, func(a, b insertion) int {
		return cmp.Or(a.at-b.at, a.begins-b.begins, a.size-b.size)
	})
	var out []byte
	at := 0
	for _, t := range texts {
		out = append(append(out, original[at:t.at]...), t.text...)
		at = t.at
	}
	return append(out, original[at:]...)
}

// try runs the tests with each mutation, and reports.
func try(list []mutation, programs []string) error {
	if out := failure("none", programs); out != "" {
		return fmt.Errorf("the tests fail without a change: %s", out)
	}
	survivors, of, survived := 0, make(map[string]int), make(map[string]int)
	for n, m := range list {
		of[m.kind]++
		if failure(strconv.Itoa(n), programs) == "" {
			fmt.Println(m)
			survivors++
			survived[m.kind]++
		}
	}
	fmt.Println()
	for _, kind := range kindNames {
		if of[kind] > 0 {
			fmt.Printf("%-9s %4d of %4d noticed\n", kind, of[kind]-survived[kind], of[kind])
		}
	}
	fmt.Printf("%-9s %4d of %4d noticed, %.1f %%\n", "all", len(list)-survivors, len(list), 100*float64(len(list)-survivors)/float64(len(list)))
	return nil
}

// slow are tests that take seconds, and seldom notice what no other one does.
const slow = "^Test(FuncsSurviveAnything|CutMessages|Concurrent|NoAllocation|BuffersEndAtHoles)$"

// failure runs the programs with one mutation until one fails, and returns what it prints. TestStart bounds
// allocations, of which conditions make more.
func failure(number string, programs []string) string {
	for _, tests := range [][]string{{"-test.skip=^TestStart$|" + slow}, {"-test.run=" + slow}} {
		for _, p := range programs {
			dir, program, _ := strings.Cut(p, " ")
			cmd := exec.Command(program, append(tests, "-test.failfast", "-test.timeout=3m")...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LSHARK_MUTATION="+number)
			if out, err := cmd.CombinedOutput(); err != nil {
				return string(out) + err.Error()
			}
		}
	}
	return ""
}
