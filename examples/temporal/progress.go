package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells on one line of a terminal what runs now.
type progress struct {
	out        io.Writer
	runs, done int
	since      time.Time
}
