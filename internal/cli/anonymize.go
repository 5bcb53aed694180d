package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/anonymize"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
)

// anonymizeOptions are the flags of the command that rewrites captures for others.
type anonymizeOptions struct {
	sys     *scan.System
	key     string
	keyFile string
	newKey  string
	flat    bool
	ports   []uint
	report  bool
	mapping string
	check   string
	form    flags.Choice
	quiet   bool
}

const keyVariable = "LSHARK_KEY"

func newAnonymize(sys *scan.System) *cobra.Command {
	c := &anonymizeOptions{sys: sys, form: flags.FormChoice("table", "json")}
	cmd := &cobra.Command{
		Use:   "anonymize [flags] IN OUT",
		Short: "Rewrite a capture without names, addresses and data",
		Long: "anonymize rewrites a capture so that it can be given to others: addresses, NIDs, UUIDs, names and ids are replaced, file data and " +
			"security tokens become zeros, and whatever cannot be read is removed. Times, lengths and lshark's findings stay the same. The same " +
			"key gives the same replacements; --check searches a result for what was to be replaced.",
		Example: `  # with a new key, which further captures of the site will need
  lshark anonymize --new-key ~/new.key --report client.pcap for_vendor.pcap

  # with a key from a file, and what was replaced and removed
  lshark anonymize --key-file ~/site.key --report client.pcap for_vendor.pcap

  # is anything left of the original?
  lshark anonymize --check for_vendor.pcap client.pcap

  # keep the list of replacements, to translate the answer
  lshark anonymize --mapping replaced.tsv --report client.pcap for_vendor.pcap

  # what the receiver will see, without a file
  lshark anonymize client.pcap - | lshark stats --by client,op`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags.Add(cmd, flags.InputGroup, func(f *pflag.FlagSet) {
		f.StringVar(&c.key, "key", "", "determine the replacements by `KEY`")
		f.StringVar(&c.keyFile, "key-file", "", "read the key from `FILE`, without line breaks at its end")
		f.StringVar(&c.newKey, "new-key", "", "write a new random key to `FILE`, readable by you alone, and use it; without IN and OUT only write it")
		f.UintSliceVar(&c.ports, "port", nil, "TCP `PORTS` that carry LNet, separated by commas (default 988)")
		f.Lookup("port").DefValue = "" // pflag would add [] as the default
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.BoolVar(&c.flat, "flat-addresses", false, "replace IP addresses as a whole: those of a subnet get nothing in common")
		f.BoolVar(&c.report, "report", false, "count what was replaced and removed, on standard output")
		f.StringVar(&c.mapping, "mapping", "", "write each original and its replacement to `FILE`, tab separated, readable by you alone")
		f.StringVar(&c.check, "check", "", "search the result `OUT` for originals of IN, instead of writing one")
		flags.RegisterForm(f, &c.form)
		f.BoolVarP(&c.quiet, "quiet", "q", false, "no notes on standard error")
	})
	return cmd
}

func (c *anonymizeOptions) run(args []string) error {
	onlyKey := c.newKey != "" && len(args) == 0
	ports, err := scan.TCPPorts(c.ports)
	if !onlyKey {
		err = errors.Join(err, c.checkArgs(args))
	}
	if err != nil {
		return err
	}
	o := anonymize.Options{FlatAddresses: c.flat, Ports: ports}
	if o.Key, err = c.findKey(onlyKey || c.check != ""); err != nil || onlyKey {
		return err
	}
	if c.check != "" { // which originals there are does not depend on the key
		return c.runCheck(args[0], o)
	}
	return c.rewrite(args[0], args[1], o)
}

// checkArgs checks the files and which flags belong together.
func (c *anonymizeOptions) checkArgs(args []string) error {
	switch {
	case c.check != "" && len(args) != 1:
		return exit.Usagef("--check OUT needs one argument, the original capture, not %d", len(args))
	case c.check != "" && (c.report || c.mapping != ""):
		return exit.Usagef("--check writes no result: it excludes --report and --mapping")
	case c.check != "" && (args[0] == "-" || c.check == "-"):
		return exit.Usagef("--check reads its files twice: standard input cannot be")
	case c.check == "" && len(args) != 2:
		return exit.Usagef("anonymize needs two arguments, IN and OUT, not %d", len(args))
	case c.mapping != "" && (sameFile(c.mapping, args[0]) || sameFile(c.mapping, args[1])):
		return exit.Usagef("--mapping %s: would overwrite a capture", c.mapping)
	case c.check == "" && args[1] == "-" && c.report:
		return exit.Usagef("--report: standard output has the capture; name a file")
	case c.check == "" && args[1] == "-" && c.sys.OutTTY:
		return exit.Usagef("standard output is a terminal; name a file")
	}
	return nil
}

// findKey returns the key for what the user gave, a random one where nothing was given. It needs
// no notes about a key that is not used.
func (c *anonymizeOptions) findKey(unused bool) ([]byte, error) {
	given := slices.DeleteFunc([]string{c.key, c.keyFile, c.newKey}, func(flag string) bool { return flag == "" })
	if len(given) > 1 {
		return nil, exit.Usagef("--key, --key-file and --new-key exclude each other")
	}
	secret, err := []byte(cmp.Or(c.key, c.sys.Env(keyVariable))), error(nil)
	switch {
	case c.newKey != "":
		secret, err = c.writeKey()
	case c.keyFile != "":
		secret, err = c.readKey()
	}
	const short = 16
	switch {
	case err != nil || unused:
		return nil, err
	case len(secret) == 0:
		c.note("no key was given: a random one is used, and another capture gets other replacements")
		return randomKey(), nil
	case len(secret) < short:
		c.note("the key has fewer than %d characters and may be guessed: make one with --new-key", short)
	}
	return anonymize.KeyOf(secret)
}

// readKey reads the file of --key-file.
func (c *anonymizeOptions) readKey() ([]byte, error) {
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return nil, err
	}
	const others = 0o077
	if info, err := os.Stat(c.keyFile); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 && runtime.GOOS != "windows" {
		c.note("%s: other users may read the key: chmod 600", c.keyFile)
	}
	if key = bytes.TrimRight(key, "\r\n"); len(key) == 0 {
		return nil, exit.Usagef("--key-file %s: the file is empty", c.keyFile)
	}
	return key, nil
}

// writeKey makes a key and the file of --new-key, which must not exist.
func (c *anonymizeOptions) writeKey() ([]byte, error) {
	f, err := os.OpenFile(c.newKey, os.O_WRONLY|os.O_CREATE|os.O_EXCL, iostreams.SecretFileMode)
	if err != nil {
		return nil, err
	}
	key := hex.AppendEncode(nil, randomKey())
	_, err = f.Write(append(key, '\n'))
	return key, errors.Join(err, f.Close())
}

func randomKey() []byte {
	key := make([]byte, anonymize.KeySize)
	rand.Read(key) // never fails
	return key
}

func (c *anonymizeOptions) note(format string, args ...any) {
	if !c.quiet {
		c.sys.Say(format, args...)
	}
}

func (c *anonymizeOptions) rewrite(from, to string, o anonymize.Options) (err error) {
	in, err := capture.Open([]string{from}, capture.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := c.create(from, to)
	if err != nil {
		return err
	}
	// A signal removes the file. Opening FIFOs above may wait, and a write may, too, so the
	// first signal before and the second one from here on end the program.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stopReading := context.AfterFunc(ctx, func() {
		stop()
		in.Close()
	})
	defer stopReading()
	progress := c.sys.NewProgress(in.Progress)
	a, err := anonymize.Rewrite(ctx, out.Stream(), in, o)
	progress.Stop()
	_, known := in.Format()
	wrong := err
	switch {
	case ctx.Err() != nil:
		wrong = errors.New("interrupted: nothing was written")
	case known && (err == nil || errors.As(err, new(*capture.DamageError))):
		if wrong = c.writeMapping(a); wrong == nil {
			wrong = out.Write(nil) // the file is complete
		}
	}
	if wrong = errors.Join(wrong, out.Close()); wrong != nil || !known {
		return wrong
	}
	st := a.Report()
	if st.Late > 0 {
		c.note("%d messages were complete so late that their first frames had been written without them", st.Late)
	}
	if st.Messages == 0 {
		c.note("no Lustre traffic in %d frames: only their headers are left", st.Frames)
	}
	if c.report {
		err = errors.Join(err, c.print(st))
	}
	return err
}

// print writes a Report or a CheckResult in the form that the flags choose.
func (c *anonymizeOptions) print(r interface{ AppendText(dst []byte) []byte }) error {
	if c.form.Value == "json" {
		return json.NewEncoder(c.sys.Out).Encode(r)
	}
	_, err := c.sys.Out.Write(r.AppendText(nil))
	return err
}

func (c *anonymizeOptions) writeMapping(a *anonymize.Anonymizer) error {
	if c.mapping == "" {
		return nil
	}
	f, err := os.OpenFile(c.mapping, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, iostreams.SecretFileMode)
	if err != nil {
		return err
	}
	err = f.Chmod(iostreams.SecretFileMode) // of a file that was there before
	if err == nil {
		quoted := func(s string) string { // what would break a line of a table
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
		w := bufio.NewWriter(f)
		a.Values().Each(func(m *values.Mapping) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", m.Class, quoted(m.Original), quoted(m.Replacement), m.Count)
		})
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

func (c *anonymizeOptions) runCheck(original string, o anonymize.Options) error {
	result, err := capture.Open([]string{c.check}, capture.Options{})
	if err != nil {
		return err
	}
	defer result.Close()
	open := func() (*capture.Reader, error) { return capture.Open([]string{original}, capture.Options{}) }
	r, err := anonymize.Check(context.Background(), open, result, o)
	if r == nil {
		return err
	}
	if failed := c.print(r); failed != nil {
		return failed
	}
	if err == nil && !r.Clean() {
		err = fmt.Errorf("%s is not anonymous", c.check)
		if r.Different != "" {
			err = fmt.Errorf("%s was not made from %s", c.check, original)
		}
	}
	return err
}

// create creates the result, which must not be the input.
func (c *anonymizeOptions) create(in, out string) (*iostreams.Writer, error) {
	if out == "-" {
		return c.sys.NewWriter(iostreams.FlushWhenFull), nil
	}
	if err := scan.CheckOutput(out, out, in); err != nil {
		return nil, err
	}
	return iostreams.NewFileWriter(out, false)
}

// sameFile reports whether two names are those of one file that exists, or the same.
func sameFile(a, b string) bool {
	x, err := scan.Stat(a)
	y, err2 := scan.Stat(b)
	if err != nil || err2 != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(x, y)
}
