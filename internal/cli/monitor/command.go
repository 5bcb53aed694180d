package monitor

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/metrics/page"
	"github.com/lshark/lshark/internal/monitor/otlp/export"
	"github.com/lshark/lshark/internal/trouble"
	"github.com/lshark/lshark/render/filter"
)

// DefaultListen is where metrics are served by default: the port is that of LNet behind a 9.
const DefaultListen = "127.0.0.1:9988"

const maxTop = 1000

type settings struct {
	input    scan.Flags
	listen   string
	top      int
	side     flags.Choice
	display  string
	sample   fraction
	records  string
	rotation struct {
		time, keepTime age
		size, keepSize flags.Size
	}
	trouble struct {
		flags.Trouble
		filter string
		time   time.Duration
		size   flags.Size
	}
	otlp struct {
		url      string
		headers  []string
		interval time.Duration
	}
	path string // of the file of settings
}

type command struct {
	settings
	flags   *pflag.FlagSet
	sys     *scan.System
	execute func(sys *scan.System, args []string) error // runs a command line

	in      *scan.Input
	pass    *scan.Pass
	monitor *monitor.Monitor
	server  *server // nil: none
	service *service
	reloads atomic.Pointer[monitor.Reloads]
	changed atomic.Pointer[monitor.Settings] // to be applied by tick, nil: none
	next    time.Time                        // of tick

	newTarget bool      // a connect has named one since the node was asked for names
	askNext   time.Time // when it may be asked again

	frames  int          // since the last call of tick
	checked int64        // time of the frame before which tick was called last
	begun   time.Time    // when the process was started
	started time.Time    // of the capture, with a monotonic clock
	ticked  atomic.Int64 // when tick was run last, in nanoseconds since started
}

// New returns the command. execute runs a command line of lshark.
func New(sys *scan.System, execute func(sys *scan.System, args []string) error) *cobra.Command {
	return newCommand(sys, execute).cobra()
}

func newCommand(sys *scan.System, execute func(sys *scan.System, args []string) error) *command {
	c := &command{sys: sys, execute: execute, begun: time.Now()}
	c.reloads.Store(&monitor.Reloads{})
	c.side = flags.Choice{Value: sideAuto, Words: sides, Flag: "--side", Placeholder: "SIDE", Noun: "side"}
	return c
}

func (c *command) cobra() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "monitor [flags] [FILE…|-]",
		Short: "Monitor an interface: metrics for Prometheus and OpenTelemetry, records of selected RPCs",
		Long: "monitor counts what happens on an interface, or what kernels report (--log), and serves it at http://" + DefaultListen +
			"/metrics, for Prometheus. --records writes RPCs to Parquet files, --otlp sends metrics and RPCs to an OTLP receiver, --trouble writes " +
			"the frames around each trouble, --config reads flags from a file. Of files the metrics are printed. docs/monitor.md has more.",
		Example: `  # the metrics of a capture
  lshark monitor client.pcap

  # serve metrics; write slow and failed RPCs and a thousandth of all
  lshark monitor -i eth0 --records records \
    -Y 'rpc.latency > 1s || rpc.error' --sample 1/1000

  # write the frames around each error, and around RPCs that take a minute
  lshark monitor -i eth0 --trouble /var/lib/lshark/troubles --keep-size 20G \
    --trouble-filter 'rpc.latency > 60s'

  # where nobody can capture: count what the kernels report
  lshark monitor --log /var/log/messages

  # send metrics and a sample of the RPCs to an OpenTelemetry collector, too
  lshark monitor -i eth0 --otlp http://localhost:4318 --sample 1/1000`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags.AddInput(cmd, c.sys, &c.input, true)
	flags.Add(cmd, flags.InputGroup, c.input.RegisterLogs)
	flags.Add(cmd, flags.SelectionGroup, func(f *pflag.FlagSet) {
		f.StringVarP(&c.display, "display", "Y", "", "write and send RPCs that match the display filter `EXPR`, such as 'rpc.latency > 1s || rpc.error'; metrics count all")
		f.Var(&c.sample, "sample", "write and send one in N of all RPCs, also if it does not match -Y")
	})
	flags.Add(cmd, flags.OutputGroup, func(f *pflag.FlagSet) {
		f.StringVar(&c.listen, "listen", DefaultListen, "serve metrics at `ADDR`; empty: do not serve")
		f.IntVar(&c.top, "top", 20, "number `N` of clients, jobs and users with their own series")
		f.Var(&c.side, "side", "which end of RPCs this machine is: "+flags.WordList(c.side.Words)+"; auto compares its addresses with the NIDs")
		f.StringVar(&c.records, "records", "", "write selected RPCs to Parquet files in `DIR`")
		c.rotation.time, c.rotation.size = age(time.Hour), 256<<20
		f.Var(&c.rotation.time, "rotate-time", "complete a file at each multiple of this time; 0: never")
		f.Var(&c.rotation.size, "rotate-size", "complete a file when it has this size; 0: no limit")
		f.Var(&c.rotation.keepTime, "keep-time", "remove files and folders of this host that are older than this, such as 30d; 0: never")
		f.Var(&c.rotation.keepSize, "keep-size", "remove the oldest files of this host when all of --records together are larger, such as 50G, and the oldest "+
			"folders when all of --trouble are; 0: no limit")
		c.trouble.Register(f, "keep the last frames in memory, and write a folder in `DIR` with those around each trouble")
		f.StringVar(&c.trouble.filter, "trouble-filter", "", "an RPC is a trouble if it matches the display filter `EXPR`, such as 'rpc.latency > 60s'")
		f.DurationVar(&c.trouble.time, "trouble-time", trouble.DefaultTime, "keep the frames of the last `DURATION` in memory, of each the first 1024 bytes, or those of -s; a server evicts a silent client, "+
			"and a request times out, only after minutes")
		c.trouble.size = trouble.DefaultSize
		f.Var(&c.trouble.size, "trouble-size", "keep at most so many bytes of frames in memory")
		f.StringVar(&c.otlp.url, "otlp", "", "send metrics and selected RPCs to the OTLP receiver at `URL`, such as http://localhost:4318; in a live capture also set by OTEL_EXPORTER_OTLP_ENDPOINT")
		f.DurationVar(&c.otlp.interval, "otlp-interval", time.Minute, "send metrics every `DURATION`")
		f.StringArrayVar(&c.otlp.headers, "otlp-header", nil, "send a header `NAME=VALUE` with each OTLP request; may be repeated. In a file its value does not show in the list of processes")
		f.StringVar(&c.path, "config", "", "read settings from `FILE`, and again with SIGHUP")
		c.input.RegisterNotes(f)
	})
	c.flags = cmd.Flags()
	return cmd
}

// check returns what is made of the settings that can change.
func (c *command) check() (*monitor.Settings, error) {
	s := &monitor.Settings{Selection: monitor.Selection{Sample: uint64(c.sample)}}
	s.Rotation = monitor.Rotation{Time: time.Duration(c.rotation.time), Size: int64(c.rotation.size),
		KeepTime: time.Duration(c.rotation.keepTime), KeepSize: int64(c.rotation.keepSize),
		Filter: c.display, Sample: uint64(c.sample)}
	for _, f := range []struct {
		text string
		to   **filter.RPCFilter
	}{{c.display, &s.Filter}, {c.trouble.filter, &s.Troubles.Filter}} {
		if f.text != "" {
			var err error
			if *f.to, err = filter.CompileRPC(f.text); err != nil {
				return nil, exit.UsageError{Err: err}
			}
		}
	}
	switch {
	case c.trouble.time < time.Second:
		return nil, exit.Usagef("--trouble-time %v: must be at least 1s", c.trouble.time)
	case c.trouble.size < minTroubleSize:
		return nil, exit.Usagef("--trouble-size %s: must be at least 4M", &c.trouble.size)
	case c.trouble.filter != "" && c.trouble.Dir == "":
		return nil, exit.Usagef("--trouble-filter needs --trouble")
	case c.trouble.Dir != "" && c.trouble.Dir == c.records:
		return nil, exit.Usagef("--trouble and --records must be different directories")
	case c.top < 1 || c.top > maxTop:
		return nil, exit.Usagef("--top %d: must be from 1 to %d", c.top, maxTop)
	case c.rotation.time > 0 && time.Duration(c.rotation.time) < time.Second:
		return nil, exit.Usagef("--rotate-time %s: must be at least 1s", &c.rotation.time)
	case c.otlp.interval < time.Second:
		return nil, exit.Usagef("--otlp-interval %v: must be at least 1s", c.otlp.interval)
	case (c.display != "" || c.sample != 0) && c.records == "" && !c.hasReceiver():
		return nil, exit.Usagef("-Y and --sample choose RPCs for --records and --otlp: give one of them")
	case len(c.otlp.headers) > 0 && !c.hasReceiver():
		return nil, exit.Usagef("--otlp-header needs --otlp")
	}
	err := c.trouble.Check()
	s.Troubles.Severity = c.trouble.Least
	return s, err
}

func (c *command) run(args []string) error {
	if err := readConfig(c.flags, c.path); err != nil {
		return err
	}
	c.input.Follow = len(c.input.Logs) > 0
	in, err := c.input.Check(args, c.sys.InTTY)
	if err != nil {
		return err
	}
	c.in = in
	first, err := c.check()
	if err != nil {
		return err
	}
	if in.OnlyLogs() && c.trouble.Dir != "" {
		return exit.Usagef("--trouble writes frames, which logs do not have")
	}
	if in.Live() && c.listen != "" {
		if c.server, err = listen(c.listen); err != nil {
			return err
		}
		defer c.server.close()
	}
	c.service = newService(c.sys.Env)
	defer c.service.close()
	c.pass = scan.New(c.sys, in, scan.Options{Outage: c.outage, Files: c.files(), AsksNode: true, Logs: scan.LogUse{Flag: "ha"}})
	c.monitor = c.newMonitor()
	if err := c.openOutputs(); err != nil {
		return err
	}
	c.monitor.Set(*first)
	c.pass.Observe(observer{c.monitor, c})
	c.pass.Add(scan.Consumer{
		Begin: c.begin,
		Frame: c.frame,
		Idle:  c.idle,
	})
	err = c.pass.Run()
	return errors.Join(err, c.close())
}

// observer is the Monitor as the pass feeds it.
type observer struct {
	*monitor.Monitor
	command *command
}

// Close is called when the capture has ended.
func (o observer) Close() {
	c := o.command
	c.service.stopping()
	now := time.Now()
	if !c.in.Live() {
		now = time.Unix(0, c.pass.Last())
	}
	c.monitor.Close(now)
}

func (c *command) newMonitor() *monitor.Monitor {
	o := monitor.Options{Live: c.in.Live(), OnlyLogs: c.in.OnlyLogs(), Top: c.top, Follow: c.pass.FollowOptions(), Side: c.sideFunc(),
		NewTarget: func() { c.newTarget = true }, Release: flags.Version(), Captured: c.pass.Captured, Health: c.health}
	start := time.Unix(0, 0) // times of capture files may be any
	if o.Live {
		start = time.Now()
	}
	return monitor.New(o, start)
}

// minTroubleSize is the least memory of the flight recorder, in bytes.
const minTroubleSize = 4 << 20

// openOutputs opens what the monitor writes to. What is wrong with the receiver is an error first.
func (c *command) openOutputs() (err error) {
	m := c.monitor
	if c.hasReceiver() {
		m.Spans, err = export.New(export.Config{Endpoint: c.otlp.url, Headers: c.otlp.headers, Service: "lshark", Release: flags.Version(),
			Host: flags.HostName(), Names: monitor.Names(), Getenv: c.sys.Env, Log: func(message string) { c.sys.Say("%s", message) }})
		if err != nil {
			return exit.UsageError{Err: err}
		}
	}
	if c.records != "" {
		m.Recorder, err = monitor.NewRecorder(monitor.RecorderOptions{Dir: c.records, Sensor: flags.HostName(),
			Capture: c.in.Name(), Release: flags.Version(), Live: c.in.Live(), Log: c.sys.Say})
	}
	if c.trouble.Dir != "" && err == nil {
		o := c.trouble.Options(c.sys, c.in, c.execute)
		if c.sys.SaveMemory != nil {
			c.sys.SaveMemory() // pages are made while the capture goes on: the heap would double for each
		}
		m.Troubles, err = trouble.NewRecorder(trouble.RecorderOptions{Options: o, MemoryTime: c.trouble.time, MemorySize: int64(c.trouble.size),
			Snaplen: cmp.Or(c.input.Snaplen, trouble.DefaultSnaplen), Findings: m.Findings, Names: m.TargetNames})
	}
	if m.Spans != nil && err == nil {
		m.Spans.Start(c.otlp.interval, m.Registry())
	}
	return err
}

// hasReceiver reports whether metrics and spans are to be sent: to --otlp, or where the
// variables of OpenTelemetry say, but only what happens now.
func (c *command) hasReceiver() bool {
	return c.otlp.url != "" || c.in.Live() && export.Configured(c.sys.Env)
}

// files returns what is opened while the capture runs: records, the file of settings, and for
// an OTLP receiver what tells its address and the authorities to trust. Files that may be replaced
// are allowed with their folder.
func (c *command) files() scan.Files {
	f := scan.Files{Read: []string{"/proc/self"}} // for metrics of this process
	for _, dir := range []string{c.records, c.trouble.Dir} {
		if dir != "" {
			f.Write = append(f.Write, dir)
		}
	}
	if c.path != "" {
		f.Read = append(f.Read, filepath.Dir(c.path))
	}
	if c.hasReceiver() {
		f.Read = append(f.Read, "/etc", "/run/systemd/resolve", "/usr/share/ca-certificates", "/usr/share/pki",
			"/usr/local/share/ca-certificates")
	}
	return f
}

// begin is called when the capture is open.
func (c *command) begin() error {
	c.started = time.Now()
	c.reloads.Store(&monitor.Reloads{LastSuccess: c.started})
	if c.server != nil {
		c.server.serve(page.Handler(c.monitor.Registry()), c.isAlive)
		if !c.input.Quiet {
			c.sys.Say("metrics at http://%s/metrics", c.server.address())
		}
	}
	if c.in.Live() {
		c.watchReloads()
		c.service.ready(c.isAlive)
	}
	return nil
}

// tickInterval is how often tick is called in a live capture.
const tickInterval = 200 * time.Millisecond

// framesPerTick is the largest number of frames between two calls of tick.
const framesPerTick = 64

func (c *command) frame(f *capture.Frame) error {
	c.monitor.Frame(f)
	if c.in.Live() {
		if c.frames++; c.frames >= framesPerTick || f.Time-c.checked >= int64(tickInterval) {
			c.frames, c.checked = 0, f.Time
			c.tick(false)
		}
	}
	return nil
}

func (c *command) idle(now int64) error {
	if c.in.Live() {
		c.tick(true)
	}
	return nil
}

// tick brings the metrics of a live capture up to date, and applies new settings. idle
// reports that no frame waits.
func (c *command) tick(idle bool) {
	now := time.Now()
	if now.Before(c.next) {
		return
	}
	c.next = now.Add(tickInterval)
	c.ticked.Store(int64(now.Sub(c.started)))
	c.monitor.Publish(now, idle)
	if s := c.changed.Swap(nil); s != nil {
		c.monitor.Set(*s)
	}
	if c.newTarget && now.After(c.askNext) {
		c.newTarget, c.askNext = false, now.Add(askInterval)
		go c.pass.AskNode()
	}
}

// askInterval is the time between two questions to this node for names of targets.
const askInterval = time.Minute

// maxSilence is how long the goroutine that reads frames may be busy with something else.
const maxSilence = 30 * time.Second

// isAlive reports whether the goroutine that reads frames goes on.
func (c *command) isAlive() bool {
	return time.Since(c.started)-time.Duration(c.ticked.Load()) < maxSilence
}

func (c *command) outage(err error) {
	c.monitor.Outage(err != nil)
	if err != nil {
		c.sys.Say("%v; waiting for it to come back", err)
		return
	}
	c.sys.Say("%s: the interface is back", c.in.Name())
}

// closeOTLP is how long what waits may take to be sent when the capture has ended.
const closeOTLP = 5 * time.Second

// close completes files, sends what waits, and prints the metrics of capture files.
func (c *command) close() error {
	var err error
	if c.monitor.Recorder != nil {
		err = c.monitor.Recorder.Close()
	}
	if c.monitor.Troubles != nil {
		err = errors.Join(err, c.monitor.Troubles.Close())
	}
	if c.monitor.Spans != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeOTLP)
		defer cancel()
		if err := c.monitor.Spans.Shutdown(ctx); err != nil {
			c.sys.Say("%v", err)
		}
	}
	if c.in.Live() {
		return err
	}
	w := c.sys.NewWriter(c.in.FlushPolicy())
	return errors.Join(err, w.Write(metrics.AppendOpenMetrics(nil, c.monitor.Registry().Snapshot())), w.Close())
}
