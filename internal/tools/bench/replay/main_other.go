//go:build !linux

// Command replay sends frames over the loopback interface of Linux.
package main

import "log"

func main() { log.Fatal("replay needs Linux") }
