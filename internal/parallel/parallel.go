// Package parallel computes on several cores.
package parallel

import (
	"iter"
	"runtime"
)

// InOrder yields f(0) to f(n-1), of which it computes as many at a time as there are cores.
func InOrder[T any](n int, f func(int) T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		cores := runtime.GOMAXPROCS(0)
		results := make([]chan T, n)
		for i := range n + cores {
			if done := i - cores; done >= 0 && done < n && !yield(done, <-results[done]) {
				return
			}
			if i < n {
				results[i] = make(chan T, 1)
				go func() { results[i] <- f(i) }()
			}
		}
	}
}
