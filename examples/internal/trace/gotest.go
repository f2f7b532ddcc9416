package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"time"
)

// goTest reads the output of go test -json, one event a line. The packages are the tasks of one phase. The tests of a
// package are the tasks of a further phase. Subtests are parts of their test and are ignored. A parallel test starts
// when it continues after its pause.
type goTest struct {
	*builder
	running map[goTestName]attemptRef
	ended   map[string]bool // by package
}

// goTestName is the name of a test of a package. If test is empty, it is the name of the package.
type goTestName struct{ pkg, test string }

func newGoTest() *goTest {
	return &goTest{newBuilder(GoTest), map[goTestName]attemptRef{}, map[string]bool{}}
}

func readGoTest(l *lineReader) *builder {
	g := newGoTest()
	g.eachLine(l, g.line)
	g.half()
	return g.builder
}

// half adds a hint if packages have begun and not ended. A test that has not ended is not such a case, because its
// package may have failed.
func (g *goTest) half() {
	open := map[string]bool{}
	for name := range g.running {
		if !g.ended[name.pkg] {
			open[name.pkg] = true
		}
	}
	if n := len(open); n > 0 {
		g.hint(fmt.Sprintf("the log stops halfway: %d packages in it have not ended, and other packages may be missing", n))
	}
}

// goTestEvent has the fields of an event that are read. Texts may share memory with the line.
type goTestEvent struct {
	at, action, pkg, test []byte
	elapsed               float64 // seconds
	faults                Faults
}

func (g *goTest) line(line []byte) bool {
	c := &cursor{data: line}
	var e goTestEvent
	c.fields(func(key []byte) {
		switch string(key) {
		case "Time":
			e.at = c.text()
		case "Action":
			e.action = c.text()
		case "Package":
			e.pkg = c.text()
		case "Test":
			e.test = c.text()
		case "Elapsed":
			e.elapsed, _ = c.number()
		}
	})
	if !c.done() || e.action == nil {
		return false
	}
	if bytes.IndexByte(e.test, '/') >= 0 {
		g.pass([]byte("of tests within tests"))
		return true
	}
	if len(e.pkg) == 0 {
		g.pass(e.action) // an event of the build
		return true
	}
	g.event(&e)
	g.log.Faults.add(&e.faults)
	return true
}

func (g *goTest) event(e *goTestEvent) {
	name := goTestName{string(e.pkg), string(e.test)}
	switch string(e.action) {
	case "start", "run":
		g.start(name, momentOf(e.at, &e.faults))
	case "cont":
		if a := g.attempt(name); a != nil {
			a.Start = momentOf(e.at, &e.faults)
		}
	case "pass", "skip":
		g.end(name, e, Succeeded)
	case "fail":
		g.end(name, e, Failed)
	default:
		g.pass(e.action)
	}
}

// attempt returns the run of a test that has not ended, or nil.
func (g *goTest) attempt(name goTestName) *Attempt {
	ref, ok := g.running[name]
	if !ok {
		return nil
	}
	return g.builder.attempt(ref)
}

// start begins a run. Each run of a test is a task, because -count asks for the work again.
func (g *goTest) start(name goTestName, at Opt) {
	phase := "packages"
	if name.test != "" {
		phase = "tests of " + nameOf([]byte(name.pkg))
	}
	i := g.phase("go test", phase)
	a := Attempt{Task: g.count(i), Ready: at, Start: at}
	g.nameTask(i, a.Task, []byte(cmp.Or(name.test, name.pkg)))
	if name.test != "" {
		a.Executor = g.executor([]byte(name.pkg), 0, 0) // the tests of a package run in one process
	}
	g.running[name] = g.add(i, a)
}

func (g *goTest) end(name goTestName, e *goTestEvent, state State) {
	finish := momentOf(e.at, &e.faults)
	a := g.attempt(name)
	if a == nil { // before Go 1.20, packages had no start event
		start := Opt{}
		if f, ok := finish.Get(); ok {
			start = Known(f - int64(time.Duration(e.elapsed*float64(time.Second))/time.Millisecond))
		}
		g.start(name, start)
		a = g.attempt(name)
	}
	a.Finish, a.State = finish, state
	delete(g.running, name)
	if name.test == "" {
		g.ended[name.pkg] = true
	}
}
