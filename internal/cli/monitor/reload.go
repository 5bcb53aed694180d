package monitor

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/monitor"
)

// changeable are the flags that can change while the capture goes on.
var changeable = []string{"display", "sample", "rotate-time", "rotate-size", "keep-time", "keep-size", "trouble-severity", "trouble-filter"}

// reloads counts how often settings were read again.
type reloads struct {
	mu sync.Mutex
	monitor.Reloads
}

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
	p, err := c.newPlan()
	c.reloads.add(err)
	if err != nil {
		c.sys.Say("the settings stay as they are: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	c.plan.Store(p)
	c.sys.Say("new settings")
}

// add counts a reload. health waits for the mutex, and the capture for health: it must not
// be held while something is written.
func (r *reloads) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.LastFailed = err != nil; err != nil {
		r.Failed++
		return
	}
	r.Succeeded++
	r.LastSuccess = time.Now()
}

func (r *reloads) read() monitor.Reloads {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Reloads
}

// newPlan reads the settings again and returns what is made of them.
func (c *command) newPlan() (*plan, error) {
	n := newCommand(c.sys, c.execute)
	n.cobra()
	for _, g := range c.given {
		f := n.flags.Lookup(g.name)
		if !slices.Contains(changeable, g.name) && g.name != "config" {
			continue
		}
		for _, v := range g.values {
			if err := f.Value.Set(v); err != nil {
				return nil, err
			}
		}
	}
	n.given = c.given
	if err := n.config.read(n.path); err != nil {
		return nil, err
	}
	var fixed []string
	n.flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(changeable, f.Name) && !c.isGiven(f.Name) && f.Value.String() != c.flags.Lookup(f.Name).Value.String() {
			fixed = append(fixed, f.Name)
		}
	})
	if len(fixed) > 0 {
		return nil, fmt.Errorf("%s cannot change without a restart", strings.Join(fixed, ", "))
	}
	n.in, n.records, n.trouble.Dir, n.otlp = c.in, c.records, c.trouble.Dir, c.otlp
	return n.check()
}

func usage(err error) error { return exit.UsageError{Err: err} }

// health returns what is known about the process and its outputs.
func (c *command) health() monitor.Health {
	h := monitor.Health{OTLP: c.sender.stats(), Reload: c.reloads.read(), Process: process()}
	if c.recorder != nil {
		h.Recorder = c.recorder.Stats()
	}
	if c.troubles != nil {
		h.Troubles = c.troubles.Stats()
	}
	return h
}
