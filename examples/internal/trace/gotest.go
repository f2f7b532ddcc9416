package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/words"
)

// The kinds of entries of go test that did not run.
const (
	// CachedPackages are packages whose results go test took from its cache. Their tests are CachedTests.
	CachedPackages = "packages from the cache"
	CachedTests    = "tests from the cache"
	// SkippedTests are tests that ended with t.Skip.
	SkippedTests = "skipped tests"
	// EmptyPackages are packages that have no tests, or in which the option -run selected none.
	EmptyPackages = "packages without tests"
	// UnbuiltPackages are packages that could not be built.
	UnbuiltPackages = "packages that were not built"
)

// goTest reads the output of go test -json, one event a line. The packages are the tasks of one phase. The tests of a
// package are the tasks of a further phase. Subtests are parts of their test. Each run of a test is a task, because
// -count asks for the work again.
//
// The duration of a run is the one that the log states: it excludes the pause of a parallel test. The log states too little
// of a test with parallel subtests, because Go does not count these: such a test takes the time from its start to its end. The
// run ends when its result is printed, or when its package fails. Results from the cache, skipped tests, packages without tests, and packages that were not
// built did not run. Tests from the cache are attempts of the state Cached: the log states the time of the run that
// filled the cache. A run that lacks skipped tests has other work than a run with them, and has another name.
type goTest struct {
	*builder
	packages []*goPackage          // in the order of their first events
	current  map[string]*goPackage // packages that have not ended, by path
	tests    *Tests                // nil if nobody asks for them
	timed    bool                  // an event has a time
	parallel int                   // tests of which the log states too little time, because subtests ran in parallel
}

// goPackage is one run of the tests of a package.
type goPackage struct {
	path                string
	whole               goRun
	runs                []goRun        // of tests, in the order of their starts
	open                map[string]int // index in runs of each test that has not ended
	skipped             []string       // tests, and tests within tests
	begun, ended        bool           // an event shows the begin, or the end, of the package itself
	cached, none, built bool           // the results are from the cache; no test was selected; the package was built
}

// goRun is one run of a test or of a whole package.
type goRun struct {
	test                 string
	ready, start, finish Opt
	seconds              float64 // that the log states; negative if it states none
	longest              float64 // seconds of the longest subtest
	state                State
	paused, skipped      bool
	parallel             bool // a subtest ran in parallel
}

func newGoTest(tests *Tests) *goTest {
	return &goTest{builder: newBuilder(GoTest), current: map[string]*goPackage{}, tests: tests}
}

func readGoTest(l *lineReader, tests *Tests) *builder {
	g := newGoTest(tests)
	g.eachLine(l, g.line)
	g.flush()
	return g.builder
}

// goTestEvent has the fields of an event that are read. Texts may share memory with the line.
type goTestEvent struct {
	at, action, pkg, test []byte
	output                []byte  // undecoded
	elapsed               float64 // seconds; negative if the event has none
	unbuilt               bool
	faults                Faults
}

func (g *goTest) line(line []byte) bool {
	c := &cursor{data: line}
	e := goTestEvent{elapsed: -1}
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
			e.elapsed = c.seconds(&e.faults)
		case "FailedBuild":
			e.unbuilt = len(c.text()) > 0
		case "Output":
			from := c.pos
			c.skip()
			e.output = line[from:c.pos]
		}
	})
	if !c.done() || e.action == nil {
		return false
	}
	g.timed = g.timed || len(e.at) > 0
	switch {
	case len(e.pkg) == 0:
		g.pass(e.action) // an event of the build
	case bytes.IndexByte(e.test, '/') >= 0:
		g.within(&e)
		g.pass([]byte("of tests within tests"))
	default:
		g.event(&e)
	}
	g.log.Faults.add(&e.faults)
	return true
}

// seconds returns the number of seconds at the cursor, or a negative number if it is out of range.
func (c *cursor) seconds(faults *Faults) float64 {
	s, ok := c.number()
	if !ok {
		return -1
	}
	if !(s >= 0 && s*1000 < maxTime) {
		faults[BadTime]++
		return -1
	}
	return s
}

// within notes facts about a test within a test: whether it was skipped, whether it ran in parallel, and its time.
func (g *goTest) within(e *goTestEvent) {
	action := string(e.action)
	if action != "pause" && action != "pass" && action != "fail" && action != "skip" {
		return
	}
	p := g.of(string(e.pkg))
	if action == "skip" {
		p.skipped = append(p.skipped, string(e.test))
	}
	test, _, _ := strings.Cut(string(e.test), "/")
	if r := p.running(test); r != nil {
		r.parallel = r.parallel || action == "pause"
		r.longest = max(r.longest, e.elapsed)
	}
}

// of returns the run of a package that has not ended. An event of a test begins such a run, too: before Go 1.20,
// packages had no start event.
func (g *goTest) of(path string) *goPackage {
	p := g.current[path]
	if p == nil {
		p = &goPackage{path: path, open: map[string]int{}, whole: goRun{seconds: -1}, built: true}
		g.current[path] = p
		g.packages = append(g.packages, p)
	}
	return p
}

func (g *goTest) event(e *goTestEvent) {
	test := string(e.test)
	switch string(e.action) {
	case "start", "run":
		p := g.of(string(e.pkg))
		at := momentOf(e.at, &e.faults)
		if test == "" {
			p.whole.ready, p.whole.start, p.begun = at, at, true
			return
		}
		p.start(test, at)
	case "pause":
		if r := g.of(string(e.pkg)).running(test); r != nil {
			r.paused = true
		}
		g.pass(e.action)
	case "cont":
		if r := g.of(string(e.pkg)).running(test); r != nil && r.paused { // otherwise its output goes on
			r.start, r.paused = momentOf(e.at, &e.faults), false
		}
	case "output":
		if test == "" {
			g.output(e)
		}
		g.pass(e.action)
	case "pass", "skip", "fail":
		g.end(test, e)
	default:
		g.pass(e.action)
	}
}

// start begins a run of a test.
func (p *goPackage) start(test string, at Opt) *goRun {
	p.open[test] = len(p.runs)
	p.runs = append(p.runs, goRun{test: test, ready: at, start: at, seconds: -1})
	return &p.runs[len(p.runs)-1]
}

// running returns the run of a test that has not ended, or nil. It is valid until the next run begins.
func (p *goPackage) running(test string) *goRun {
	i, ok := p.open[test]
	if !ok {
		return nil
	}
	return &p.runs[i]
}

// output reads a line about a whole package. It tells whether the results are from the cache, and whether the package
// has tests. With -cover a package without test files passes, and has a line that begins with a tab.
func (g *goTest) output(e *goTestEvent) {
	if !bytes.Contains(e.output, []byte("(cached)")) && !bytes.Contains(e.output, []byte("[no tests to run]")) &&
		!bytes.Contains(e.output, []byte("coverage:")) {
		return
	}
	c := cursor{data: e.output}
	if bytes.HasPrefix(c.text(), []byte("\t"+string(e.pkg)+"\t\tcoverage:")) {
		g.of(string(e.pkg)).none = true
		return
	}
	c = cursor{data: e.output}
	rest, ok := bytes.CutPrefix(c.text(), []byte("ok  \t"+string(e.pkg)+"\t"))
	if !ok {
		return
	}
	p := g.of(string(e.pkg))
	p.cached = p.cached || bytes.HasPrefix(rest, []byte("(cached)"))
	p.none = p.none || bytes.Contains(rest, []byte("[no tests to run]"))
}

func (g *goTest) end(test string, e *goTestEvent) {
	p := g.of(string(e.pkg))
	r := &p.whole
	if test != "" {
		if r = p.running(test); r == nil {
			r = p.start(test, Opt{})
		}
		delete(p.open, test)
	}
	finish := momentOf(e.at, &e.faults)
	stated := r.withSubtests(finish, e.elapsed)
	if stated > e.elapsed {
		g.parallel++
	}
	r.end(finish, stated)
	switch string(e.action) {
	case "pass":
		r.state = Succeeded
	case "fail":
		r.state = Failed
	case "skip":
		r.state, r.skipped = Succeeded, true
		p.skipped = append(p.skipped, test)
	}
	if test == "" {
		if p.ended = true; r.state == Failed {
			p.stop(finish)
		}
		p.built = !e.unbuilt && !(r.state == Failed && (e.elapsed == 0 || r.seconds == 0) && len(p.runs) == 0)
		delete(g.current, p.path)
	}
}

// stop ends the tests that have not ended when their package fails: they were killed with it, such as by go test's timeout. In a
// package that passes, a benchmark has no end.
func (p *goPackage) stop(at Opt) {
	for _, i := range p.open {
		r := &p.runs[i]
		if r.state = Killed; !r.paused {
			r.finish = at
		}
	}
}

// statedError is the largest error of a stated duration, in seconds: go test states hundredths.
const statedError = .005

// end sets the end of a run. Its duration is the stated one. If the times of the events round to the stated duration,
// they are finer, and are used.
func (r *goRun) end(finish Opt, stated float64) {
	r.finish, r.seconds = finish, stated
	end, ok := finish.Get()
	if stated < 0 || !ok {
		return
	}
	if start, ok := r.start.Get(); ok && !r.paused && math.Abs(float64(end-start)/1000-stated) <= statedError {
		r.seconds = float64(end-start) / 1000
		return
	}
	start := max(end-int64(math.Round(stated*1000)), 0)
	r.start = Known(start)
	if ready, ok := r.ready.Get(); !ok || ready > start {
		r.ready = r.start
	}
}

// withSubtests returns the duration of a run that ends. It is the stated one, unless the run took longer with its subtests: then
// it is the time from its start to its end, or that of its longest subtest if the events were written later.
func (r *goRun) withSubtests(finish Opt, stated float64) float64 {
	whole := r.longest
	start, began := r.start.Get()
	end, ended := finish.Get()
	if began && ended && !r.paused && (r.parallel || whole > stated+2*statedError) {
		whole = max(whole, float64(end-start)/1000)
	}
	if stated < 0 || whole <= stated+2*statedError {
		return stated
	}
	return whole
}

// took returns the duration of a run, in seconds; false if it is not known.
func (r *goRun) took() (seconds float64, ok bool) {
	if r.seconds >= 0 {
		return r.seconds, true
	}
	start, began := r.start.Get()
	finish, ended := r.finish.Get()
	return float64(finish-start) / 1000, began && ended && finish >= start
}

// flush adds the runs of all packages to the log.
func (g *goTest) flush() {
	short := 0
	open := map[string]bool{}
	if slices.ContainsFunc(g.packages, (*goPackage).taken) {
		g.phase("go test", "packages")
	}
	for i, p := range g.packages {
		g.packages[i] = nil                                                                    // the memory can be used for attempts
		p.skipped = slices.DeleteFunc(p.skipped, func(test string) bool { return test == "" }) // the package itself
		slices.Sort(p.skipped)
		g.tests.begin()
		g.tests.span(p.whole.start, p.whole.finish)
		if !p.ended {
			open[p.path] = true
		}
		whole := "" // the name of the task, as nameTask stores it
		switch {
		case p.cached:
			g.notRun(CachedPackages)
		case !p.built:
			g.notRun(UnbuiltPackages)
		case p.ended && !p.ran():
			g.notRun(EmptyPackages)
			g.tests.ran(TestRun{Package: p.path})
		case p.ended && p.short():
			short++
		case p.taken():
			whole = nameOf([]byte(p.work(&p.whole)))
			g.take(g.phase("go test", "packages"), p, &p.whole, 0)
		}
		g.takeTests(p, whole)
	}
	if !g.timed && len(g.packages) > 0 {
		g.hint("the events have no Time: use go test -json, or go tool test2json -t")
	}
	g.hintShort("package", "test", short, "not used")
	if n := g.parallel; n > 0 {
		g.hint(fmt.Sprintf("%s %s parallel subtests, which go test does not count: the time from the start of the test to its "+
			"end is used", words.Counted(n, "test"), words.Plural(n, "has", "have")))
	}
	if n := len(open); n > 0 {
		g.hint(fmt.Sprintf("the log stops halfway: %s in it %s not ended, and other packages may be missing",
			words.Counted(n, "package"), words.Plural(n, "has", "have")))
	}
}

// hintShort adds a hint about a number of packages, suites or tests that claim less time than a part of theirs. used says what
// their time is.
func (b *builder) hintShort(what, part string, n int, used string) {
	if n > 0 {
		b.hint(fmt.Sprintf("%s %s less time than the longest %s: the time of the %s is %s", words.Counted(n, what),
			words.Plural(n, "claims", "claim"), part, what, used))
	}
}

// taken reports whether the run of the whole package is a task.
func (p *goPackage) taken() bool {
	return !p.cached && p.built && (p.begun || p.ended) && (!p.ended || p.ran() && !p.short())
}

// ran reports whether the package has tests to run.
func (p *goPackage) ran() bool { return !p.whole.skipped && !(p.none && len(p.runs) == 0) }

// short reports whether the package claims less time than its longest test.
func (p *goPackage) short() bool {
	whole, ok := p.whole.took()
	return ok && slices.ContainsFunc(p.runs, func(r goRun) bool {
		seconds, ok := r.took()
		return ok && r.seconds >= 0 && seconds > whole+2*statedError
	})
}

// takeTests adds the runs of the tests of a package. whole is the name of the task that is the run of the package; empty if
// the run is no task.
func (g *goTest) takeTests(p *goPackage, whole string) {
	for k := range p.runs {
		r := &p.runs[k]
		if r.skipped {
			g.notRun(SkippedTests)
			g.tests.ran(TestRun{Package: p.path, Test: r.test, Skipped: true})
			continue
		}
		if p.cached {
			g.notRun(CachedTests)
			r.state = Cached
		}
		i := g.phase("go test", "tests of "+nameOf([]byte(p.path)))
		if of := &g.log.Phases[i]; whole != "" && !slices.Contains(of.Whole, whole) {
			of.Whole = append(of.Whole, whole)
		}
		g.take(i, p, r, g.executor([]byte(p.path), 0, 0)) // the tests of a package run in one process
	}
}

// take adds one run as a task.
func (g *goTest) take(phase int, p *goPackage, r *goRun, executor int32) {
	a := Attempt{Task: g.count(phase), Ready: r.ready, Start: r.start, Finish: r.finish, State: r.state, Executor: executor}
	g.nameTask(phase, a.Task, []byte(p.work(r)))
	g.add(phase, a)
	if seconds, ok := r.took(); ok && (r.state == Succeeded || r.state == Failed) {
		g.tests.ran(TestRun{Package: p.path, Test: r.test, Seconds: seconds, Failed: r.state == Failed})
	}
}

// work returns the name of the work of a run: the test or package, and the skipped tests in it, which are sorted.
func (p *goPackage) work(r *goRun) string {
	if r.test == "" {
		return workOf(p.path, p.skipped)
	}
	within := r.test + "/"
	from, _ := slices.BinarySearch(p.skipped, within)
	to := from
	for to < len(p.skipped) && strings.HasPrefix(p.skipped[to], within) {
		to++
	}
	return workOf(r.test, p.skipped[from:to])
}
