//go:build race

package main

// raceDetector reports that the tests run with the race detector.
const raceDetector = true
