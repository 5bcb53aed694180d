package recovery_test

import (
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/assert"
)

func TestTargetOfClient(t *testing.T) {
	for uuid, want := range map[string]string{
		"lustre-MDT0001-mdtlov_UUID":           "lustre-MDT0001",
		"lustre-MDT0000-lwp-OST0002_UUID":      "lustre-OST0002",
		"my-fs-MDT0000-lwp-MDT000a_UUID":       "my-fs-MDT000a",
		"f0cc377a-2d1b-4f3a-8a35-5f1a0d1d2b3c": "",
		"lustre-MDT0000_UUID":                  "",
		"MDT0000-lwp":                          "",
		"x-lwp-y_UUID":                         "",
		"":                                     "",
	} {
		client := recovery.Client{Connection: &track.Connection{ClientUUID: uuid}}
		assert.Equal(t, client.Target(), want, uuid)
	}
}
