package trace

import (
	"bytes"
	"strconv"
)

// task reads the task at the stream's position. It returns false if the task is not well-formed.
func (t *rumen) task(job *rumenJob, to *rumenTasks) bool {
	c := &cursor{data: t.s.value}
	first := to.attempts.n
	index := int32(-1)
	var preferred []int32
	c.fields(func(key []byte) {
		switch string(key) {
		case "taskID":
			index = numberFromEnd(c.text(), 0)
		case "attempts":
			c.elements(func() { to.attempts.push(t.attempt(c, job)) })
		case "preferredLocations":
			c.elements(func() {
				if host := t.layers(c); host > 0 && len(preferred) < maxPreferred {
					preferred = append(preferred, host)
				}
			})
		}
	})
	to.declare(index + 1)
	for i := first; i < to.attempts.n; i++ {
		a := to.attempts.at(i)
		a.Preferred = preferred
		if index >= 0 {
			a.Task = index
		}
	}
	return c.done()
}

func (t *rumen) attempt(c *cursor, job *rumenJob) Attempt {
	a := Attempt{Task: -1}
	var host, rack []byte
	var read, mapped Opt
	c.fields(func(key []byte) {
		switch string(key) {
		case "attemptID":
			id := c.text()
			a.Task, a.Number = numberFromEnd(id, 1), max(numberFromEnd(id, 0), 0)
		case "result":
			a.State = t.state(c.text(), &job.faults)
		case "startTime":
			a.Start = c.clock(&job.faults)
		case "finishTime":
			a.Finish = c.clock(&job.faults)
		case "hostName":
			host = c.name()
		case "location":
			a.Host = t.layers(c)
		case "clockSplits":
			a.Splits = t.splits(readSplits(c))
		case "hdfsBytesRead":
			read = c.bytes()
		case "mapInputBytes":
			mapped = c.bytes()
		case "reduceShuffleBytes":
			a.Shuffle = c.bytes()
		case "hdfsBytesWritten", "mapOutputBytes":
			a.Output = a.Output.plus(c.bytes())
		}
	})
	if a.Input = read; !read.Known() {
		a.Input = mapped
	}
	if host, rack = splitHost(host); len(host) > 0 {
		a.Host = t.host(host, rack)
	}
	return a
}

func (t *rumen) state(result []byte, faults *Faults) State {
	switch string(result) {
	case "SUCCESS", "SUCCEEDED":
		return Succeeded
	case "FAILED":
		return Failed
	case "KILLED":
		return Killed
	}
	faults[UnknownState]++
	return Unfinished
}

// layers reads a location, from the rack to the node, and returns the index of the node.
func (t *rumen) layers(c *cursor) (host int32) {
	c.fields(func(key []byte) {
		if string(key) != "layers" {
			return
		}
		var path [][]byte
		c.elements(func() { path = append(path, unescape(c.name())) })
		if n := len(path); n > 0 {
			host = t.host(path[n-1], bytes.Join(path[:n-1], []byte("/")))
		}
	})
	return host
}

// splitHost splits "/rack/node"; a node alone has no rack.
func splitHost(name []byte) (host, rack []byte) {
	name = unescape(name)
	i := bytes.LastIndexByte(name, '/')
	return name[i+1:], bytes.Trim(name[:max(i, 0)], "/")
}

// unescape removes the backslashes that Rumen writes before the dots in names.
func unescape(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 {
		return name
	}
	return bytes.ReplaceAll(name, []byte(`\`), nil)
}

// numberFromEnd returns a number of an ID with underscores between its parts, counted from the end; -1 if there is
// none.
func numberFromEnd(id []byte, back int) int32 {
	for range back {
		i := bytes.LastIndexByte(id, '_')
		if i < 0 {
			return -1
		}
		id = id[:i]
	}
	n, err := strconv.ParseInt(string(id[bytes.LastIndexByte(id, '_')+1:]), 10, 32)
	if err != nil || n < 0 {
		return -1
	}
	return int32(n)
}
