package opcodes

import "testing"

func TestInferOpcode(t *testing.T) {
	Resolve()
	for _, tt := range []struct {
		lens []int
		want uint32 // 0: several operations have such buffers, or none has
	}{
		{[]int{184, 104, 8, 136, 0, 0, 3, 128, 0, 0, 0, 0}, LDLM_ENQUEUE},
		{[]int{152, 104, 8, 136, 0, 0, 3, 128, 0, 0, 0, 0}, LDLM_ENQUEUE},
		{[]int{184, 136, 0, 5, 0, 104, 0, 0, 0, 0}, MDS_REINT},
		{[]int{184, 64, 8, 136, 0, 0, 3, 128, 0, 0, 0, 0}, 0},
		{[]int{184, 104}, 0},
		{[]int{184, 104, 8, 136, 0, 0, 3, 128, 0, 0, 0, 0, 0}, 0},
		{nil, 0},
	} {
		if got, _ := InferOpcode(tt.lens); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.lens, got, tt.want)
		}
	}
}
