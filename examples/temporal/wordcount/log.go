package wordcount

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

// Attempt is a line in the log of a host about one attempt. It tells what really ran, independent of engine and policy.
type Attempt struct {
	Run, Name, Host string
	Begin, End      time.Time // End is zero while the attempt runs, and stays zero if the host is killed
	Error           string    // the error of the attempt; empty if it has a result
}

// Log is the file to which a host writes its attempts. A nil Log writes nothing.
type Log struct {
	mu   sync.Mutex
	host string
	out  *json.Encoder
}

// OpenLog opens a host's log, to append to it.
func OpenLog(name, host string) (*Log, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	return &Log{host: host, out: json.NewEncoder(file)}, nil
}

// run writes the beginning of an attempt, and returns a function that writes its end.
func (l *Log) run(ctx context.Context) func(*error) {
	if l == nil {
		return func(*error) {}
	}
	run := activity.GetInfo(ctx).WorkflowExecution.ID
	a := Attempt{Run: run, Name: attempt(ctx), Host: l.host, Begin: time.Now()}
	l.write(a)
	return func(err *error) {
		a.End = time.Now()
		if *err != nil {
			a.Error = (*err).Error()
		}
		l.write(a)
	}
}

func (l *Log) write(a Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.out.Encode(a) // if the line is lost, the attempt looks like an attempt that never ends
}

// ReadLog returns the attempts of one run in a log, in the order of their beginnings.
func ReadLog(name, run string) ([]Attempt, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var attempts []Attempt
	index := map[string]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var a Attempt
		if json.Unmarshal(lines.Bytes(), &a) != nil || a.Run != run { // a host that was killed may have written a part of a line
			continue
		}
		if i, ok := index[a.Name]; ok {
			attempts[i] = a
			continue
		}
		index[a.Name] = len(attempts)
		attempts = append(attempts, a)
	}
	return attempts, lines.Err()
}
