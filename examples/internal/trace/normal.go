package trace

import (
	"bytes"
	"io"
	"strconv"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// readLines reads the normal form, one record a line. docs/format.md has the fields.
func readLines(l *lineReader) *builder {
	b := newBuilder(Lines)
	b.eachLine(l, b.line)
	return b
}

// readRecords reads the normal form in any other layout: as an array, or as objects over several lines.
func readRecords(r io.Reader, limit int) *builder {
	b := newBuilder(Lines)
	newStream(r, limit, ofNormalLine).each(b.log, b.line)
	return b
}

// ofNormalLine reports whether a key is a field of the normal form.
func ofNormalLine(key []byte) bool {
	switch string(key) {
	case "job", "phase", "host", "rack", "executor", "cores", "tasks", "submitted", "completed", "after", "task",
		"attempt", "ready", "start", "finish", "state", "locality", "speculative", "input", "shuffle", "output", "preferred",
		"splits", "kin", "family", "name":
		return true
	}
	return false
}

// normalLine is a line of the normal form. Texts may share memory with the line.
type normalLine struct {
	job, phase           []byte
	host, rack, executor []byte
	taskName             []byte // the name of the task if it has no number
	name                 []byte // the name of its work, beside a number
	kin, family          []byte
	unknown              [][]byte    // unknown fields
	after                []phaseName // a name without a job means the same job
	preferred            [][]byte
	splits               []int64
	submitted, completed Opt
	task, tasks, cores   int32
	a                    Attempt
	word                 []byte // the state, if stated
	stated               bool   // the line has a state
	ended                bool   // the line has a finish, though perhaps an impossible one
	skipped              string // the state of an attempt that did not run; empty if it ran
	numbered             bool   // the line has the number of the attempt
	ofAttempt            bool   // the line has a task, a start or a finish, so it describes an attempt
	faults               Faults
}

// line reads a line. It returns false if the line is not well-formed or of no known kind.
func (b *builder) line(line []byte) bool {
	c := &cursor{data: line}
	n := normalLine{task: -1, tasks: -1}
	c.fields(func(key []byte) { n.member(c, key) })
	if !c.done() {
		return false
	}
	b.unknownFields(n.unknown)
	return b.take(&n)
}

// take adds the content of a line; false if it is of no known kind.
func (b *builder) take(n *normalLine) bool {
	switch {
	case n.phase != nil && (n.task >= 0 || n.taskName != nil):
		b.attemptLine(n)
	case n.phase != nil && n.ofAttempt:
		b.log.Faults[NoTask]++
	case n.phase != nil:
		b.phaseLine(n)
	case n.host != nil || n.executor != nil:
		b.place(n)
	default:
		return false
	}
	b.log.Faults.add(&n.faults)
	return true
}

func (n *normalLine) member(c *cursor, key []byte) {
	switch string(key) {
	case "job":
		n.job = c.name()
	case "phase":
		n.phase = c.name()
	case "host":
		n.host = c.name()
	case "rack":
		n.rack = c.name()
	case "executor":
		n.executor = c.name()
	case "cores":
		n.cores = c.index()
	case "tasks":
		n.tasks = c.index()
	case "submitted":
		n.submitted = c.moment(&n.faults)
	case "completed":
		n.completed = c.moment(&n.faults)
	case "after":
		c.elements(func() { n.after = append(n.after, readPhaseName(c)) })
	case "task":
		n.setTask(c.name())
	case "name":
		n.name = c.name()
	case "kin":
		n.kin = c.text()
	case "family":
		n.family = c.name()
	default:
		n.attemptMember(c, key)
	}
}

// readPhaseName reads the name of a phase of the same job, or a pair of job and phase.
func readPhaseName(c *cursor) phaseName {
	if c.space() != '[' {
		return phaseName{name: nameOf(c.name())}
	}
	var pair [2]string
	i := 0
	c.elements(func() {
		pair[min(i, 1)] = nameOf(c.name())
		i++
	})
	return phaseName{pair[0], pair[1]}
}

// setTask reads the number or the name of a task. Only a text in Go's form of an integer is a number: 1.1, 01 and 3e0
// are names. A negative number is an error. A number that is too large for an index is a name.
func (n *normalLine) setTask(text []byte) {
	n.ofAttempt = true
	i, err := strconv.ParseInt(string(text), 10, 64)
	switch number := err == nil && strconv.FormatInt(i, 10) == string(text); {
	case len(text) == 0, number && i < 0:
	case number && i < maxTask:
		n.task = int32(i)
	default:
		n.taskName = text
	}
}

func (n *normalLine) attemptMember(c *cursor, key []byte) {
	switch string(key) {
	case "attempt":
		n.a.Number = max(c.index(), 0)
		n.ofAttempt, n.numbered = true, true
	case "ready":
		n.a.Ready = c.moment(&n.faults)
	case "start":
		n.a.Start = c.moment(&n.faults)
		n.ofAttempt = true
	case "finish":
		before := n.faults
		n.a.Finish = c.moment(&n.faults)
		n.ended = n.a.Finish.Known() || n.faults != before
		n.ofAttempt = true
	case "state":
		n.state(c.text())
	case "locality":
		n.a.Locality = Locality(find(localityNames[:], c.text()))
	case "speculative":
		n.a.Speculative = c.answer()
	case "input":
		n.a.Input = c.bytes()
	case "shuffle":
		n.a.Shuffle = c.bytes()
	case "output":
		n.a.Output = c.bytes()
	case "preferred":
		c.elements(func() { n.preferred = append(n.preferred, c.name()) })
	case "splits":
		n.splits = readSplits(c)
	default:
		n.unknown = append(n.unknown, key)
	}
}

func (n *normalLine) state(name []byte) {
	switch word := string(bytes.ToLower(name)); word {
	case "skipped", "disabled", "omitted", "not_run", "notrun":
		n.skipped, n.stated = word, true
		return
	}
	n.word, n.stated = name, true
}

// place adds a host, and an executor on it.
func (b *builder) place(n *normalLine) (host, executor int32) {
	host = b.host(n.host, n.rack)
	return host, b.executor(n.executor, host, max(n.cores, 0))
}

func (b *builder) phaseLine(n *normalLine) {
	i := b.phase(nameOf(n.job), nameOf(n.phase))
	p := &b.log.Phases[i]
	if n.tasks > 0 && n.tasks <= maxTask {
		p.Tasks = int(n.tasks)
	}
	p.Submitted, p.Completed = n.submitted, n.completed
	if kin, ok := alike.Parse(n.kin); ok {
		p.Kin = kin
	}
	p.Family = nameOf(n.family)
	p.DependsOn = nil
	for _, parent := range n.after {
		if parent.job == "" {
			parent.job = p.Job
		}
		if j, ok := b.phases[parent]; ok && j < i {
			p.DependsOn = append(p.DependsOn, j)
		}
	}
}

func (b *builder) attemptLine(n *normalLine) {
	if n.skipped != "" {
		b.notRun("attempts with the state " + n.skipped)
		return
	}
	if n.stated {
		n.a.State = b.stateOf(n.word)
	}
	if n.a.State == Cached {
		b.notRun("attempts with the state cached")
	}
	i := b.phase(nameOf(n.job), nameOf(n.phase))
	a := n.a
	a.Task = b.task(i, n.task, n.taskName)
	switch {
	case n.name != nil:
	case n.taskName != nil:
		n.name = n.taskName
	case a.Task != n.task: // a number among names
		n.name = strconv.AppendInt(nil, int64(n.task), 10)
	}
	b.nameTask(i, a.Task, n.name)
	a.Host, a.Executor = b.place(n)
	a.Splits = b.splits(n.splits)
	if n.numbered {
		b.numbered[i] = true
	}
	if finish, ok := a.Finish.Get(); ok && finish == 0 && a.Start.Or(1) > 0 {
		a.Finish, n.ended = Opt{}, false
	}
	if !n.stated && n.ended {
		a.State = Succeeded
	}
	for _, name := range n.preferred {
		if host := b.host(name, nil); host > 0 && len(a.Preferred) < maxPreferred {
			a.Preferred = append(a.Preferred, host)
		}
	}
	b.add(i, a)
}
