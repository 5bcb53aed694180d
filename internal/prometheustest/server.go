// Package prometheustest runs Prometheus for tests: on loopback, with its data in
// a temporary folder.
package prometheustest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Server is a running Prometheus.
type Server struct {
	URL string
	t   testing.TB
}

// Start starts Prometheus with a configuration file, and with native histograms
// if asked to. The server ends with the test, which is skipped if Prometheus is
// not installed.
func Start(t testing.TB, config string, nativeHistograms bool) *Server {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed")
	}
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	args := []string{"--config.file=" + file, "--storage.tsdb.path=" + t.TempDir(), "--web.listen-address=" + address, "--log.level=warn"}
	if nativeHistograms {
		args = append(args, "--enable-feature=native-histograms")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // killed below, or its log is shown
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("Prometheus: %s", log.Bytes())
		}
	})
	s := &Server{URL: "http://" + address, t: t}
	s.Poll("readiness of Prometheus", func() error {
		select {
		case <-ended:
			t.Fatalf("Prometheus ended: %s", log.Bytes())
		default:
		}
		resp, err := http.Get(s.URL + "/-/ready")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	})
	return s
}

// freeAddress returns an address of loopback that no one listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Poll calls check every tenth of a second until it returns nil, and fails the
// test if it does not within 20 seconds.
func (s *Server) Poll(what string, check func() error) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			s.t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// Series is a series in the result of a query.
type Series struct {
	Labels map[string]string
	Value  float64
}

// Query evaluates an expression now. The value of a native histogram is NaN.
func (s *Server) Query(expression string) ([]Series, error) {
	resp, err := http.PostForm(s.URL+"/api/v1/query", url.Values{"query": {expression}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", expression, resp.Status, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", expression, answer.Error)
	}
	if answer.Data.ResultType != "vector" {
		return nil, fmt.Errorf("%s: the result is a %s", expression, answer.Data.ResultType)
	}
	var vector []struct {
		Metric map[string]string
		Value  []any
	}
	if err := json.Unmarshal(answer.Data.Result, &vector); err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	var list []Series
	for _, v := range vector {
		value := math.NaN()
		if len(v.Value) == 2 {
			if value, err = strconv.ParseFloat(fmt.Sprint(v.Value[1]), 64); err != nil {
				return nil, fmt.Errorf("%s: %w", expression, err)
			}
		}
		list = append(list, Series{v.Metric, value})
	}
	return list, nil
}
