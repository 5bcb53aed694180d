package main

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func TestRun(t *testing.T) {
	var byName, byNumber bytes.Buffer
	must.NoError(t, run(&byName, "mds_getattr"))
	must.NoError(t, run(&byNumber, "33"))
	assert.That(t, byName.Len() > 1000 && bytes.Equal(byName.Bytes(), byNumber.Bytes()), "%d and %d bytes", byName.Len(), byNumber.Len())
	for _, name := range []string{"MDS_NOTHING", "OST_REPLY", ""} {
		assert.That(t, run(&byName, name) != nil, "%q has a sample", name)
	}
}
