package flags

import (
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/trouble"
)

// Trouble are the flags of commands that write folders around findings.
type Trouble struct {
	Dir           string // empty: none are written
	Before, After time.Duration
	Least         diagnose.Severity // of a finding with a folder, set by Check

	severity Choice
}

// Register defines the flags; what describes what --trouble does.
func (t *Trouble) Register(f *pflag.FlagSet, what string) {
	t.severity = SeverityChoice("--trouble-severity", diagnose.Error)
	f.StringVar(&t.Dir, "trouble", "", what)
	f.Var(&t.severity, "trouble-severity", "a finding is a trouble if it is at least as severe: "+WordList(t.severity.Words))
	f.DurationVar(&t.Before, "before", trouble.DefaultAround, "with --trouble, a folder has the frames from `DURATION` before the first evidence")
	f.DurationVar(&t.After, "after", trouble.DefaultAround, "with --trouble, a folder has the frames up to `DURATION` after the trouble was found")
}

// Check validates the flags.
func (t *Trouble) Check() error {
	if t.Before < 0 || t.After < 0 {
		return exit.Usagef("--before and --after must not be negative")
	}
	t.Least = Severity(&t.severity)
	return nil
}

// Options returns the options for folders of an input. execute runs a command line of lshark.
func (t *Trouble) Options(sys *scan.System, in *scan.Input, execute func(*scan.System, []string) error) trouble.Options {
	return trouble.Options{Dir: t.Dir, Host: HostName(), Capture: in.Name(), Before: t.Before, After: t.After, Log: sys.Say,
		Report: func(captures []string, page string) error {
			return execute(sys.ToFile(), append([]string{"report", "-q", "-o", page}, captures...))
		}}
}

// HostName returns the name of this host, as it is in names of files.
func HostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}
