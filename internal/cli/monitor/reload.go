package monitor

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/monitor"
)

// changeable are the flags that can change while the capture goes on.
var changeable = []string{"display", "sample", "rotate-time", "rotate-size", "keep-time", "keep-size", "trouble-severity", "trouble-filter"}

// watchReloads reads the settings again with each SIGHUP.
func (c *command) watchReloads() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, reloadSignals...)
	go func() {
		for range signals {
			c.service.reloading()
			c.reload()
			c.pass.AskNode()
			c.service.reloaded()
		}
	}()
}

// reload reads the settings again. If they are wrong, nothing changes.
func (c *command) reload() {
	s, err := c.readAgain()
	said := "new settings"
	r := *c.reloads.Load()
	r.LastFailed = err != nil
	if r.LastFailed {
		r.Failed++
		said = "the settings stay as they are: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	} else {
		r.Succeeded++
		r.LastSuccess = time.Now()
		c.changed.Store(s)
	}
	c.reloads.Store(&r)
	c.sys.Say("%s", said)
}

// readAgain reads the settings again.
func (c *command) readAgain() (*monitor.Settings, error) {
	n := newCommand(c.sys, c.execute)
	n.cobra()
	var wrong error
	c.flags.Visit(func(f *pflag.Flag) { // those of the command line
		given := n.flags.Lookup(f.Name)
		given.Changed = true
		if slices.Contains(changeable, f.Name) || f.Name == "config" {
			wrong = errors.Join(wrong, given.Value.Set(f.Value.String()))
		}
	})
	if wrong = errors.Join(wrong, readConfig(n.flags, n.path)); wrong != nil {
		return nil, wrong
	}
	var fixed []string
	n.flags.VisitAll(func(f *pflag.Flag) {
		was := c.flags.Lookup(f.Name)
		if !slices.Contains(changeable, f.Name) && !was.Changed && f.Value.String() != was.Value.String() {
			fixed = append(fixed, f.Name)
		}
	})
	if len(fixed) > 0 {
		return nil, fmt.Errorf("%s cannot change without a restart", strings.Join(fixed, ", "))
	}
	n.in, n.records, n.trouble.Dir, n.otlp = c.in, c.records, c.trouble.Dir, c.otlp
	return n.check()
}

// health returns what is known about the process.
func (c *command) health() monitor.Health {
	h := monitor.Health{Reload: *c.reloads.Load(), Process: process()}
	h.Process.Started = c.begun
	return h
}
