package trace

import "bytes"

// readLines reads the normal form; see the package comment for its schema.
func readLines(l *lineReader) *builder {
	b := newBuilder(Lines)
	for {
		line, end := l.next()
		if end == none {
			return b
		}
		if end != tooLong && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		b.log.Records++
		switch {
		case end == tooLong:
			b.log.Faults[TooLong]++
		case b.line(line):
		case end == last:
			b.log.Faults[HalfLast]++
		default:
			b.log.Faults[Broken]++
		}
	}
}

// normalLine is one line of the normal form, of any kind. Texts may alias the line.
type normalLine struct {
	job, phase           []byte
	host, rack, executor []byte
	after                []phaseName // without a job: of the same job
	preferred            [][]byte
	submitted, completed Opt
	task, tasks, cores   int32
	a                    Attempt
	stated               bool // a.State was given
	ofAttempt            bool // there is a task, a start or a finish, as only attempts have
	faults               Faults
}

// line takes in one line, and says whether it was well-formed and of a known kind.
func (b *builder) line(line []byte) bool {
	c := &cursor{data: line}
	n := normalLine{task: -1, tasks: -1}
	c.fields(func(key []byte) { n.member(c, key) })
	if !c.done() {
		return false
	}
	switch {
	case n.phase != nil && n.task >= 0:
		b.attemptLine(&n)
	case n.phase != nil && n.ofAttempt:
		b.log.Faults[NoTask]++
	case n.phase != nil:
		b.phaseLine(&n)
	case n.host != nil || n.executor != nil:
		b.place(&n)
	default:
		return false
	}
	b.log.Faults.add(&n.faults)
	return true
}

func (n *normalLine) member(c *cursor, key []byte) {
	switch string(key) {
	case "job":
		n.job = c.text()
	case "phase":
		n.phase = c.text()
	case "host":
		n.host = c.text()
	case "rack":
		n.rack = c.text()
	case "executor":
		n.executor = c.text()
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
		n.task = c.index()
		n.ofAttempt = true
	default:
		n.attemptMember(c, key)
	}
}

// readPhaseName reads the name of a phase of the same job, or a pair of job and phase.
func readPhaseName(c *cursor) phaseName {
	if c.space() != '[' {
		return phaseName{name: valid(c.text())}
	}
	var pair [2]string
	i := 0
	c.elements(func() {
		pair[min(i, 1)] = valid(c.text())
		i++
	})
	return phaseName{pair[0], pair[1]}
}

func (n *normalLine) attemptMember(c *cursor, key []byte) {
	switch string(key) {
	case "attempt":
		n.a.Number = max(c.index(), 0)
		n.ofAttempt = true
	case "ready":
		n.a.Ready = c.moment(&n.faults)
	case "start":
		n.a.Start = c.moment(&n.faults)
		n.ofAttempt = true
	case "finish":
		n.a.Finish = c.moment(&n.faults)
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
		c.elements(func() { n.preferred = append(n.preferred, c.text()) })
	}
}

func (n *normalLine) state(name []byte) {
	n.a.State = State(find(stateNames[:], name))
	n.stated = true
	if n.a.State == Unfinished && string(name) != stateNames[Unfinished] {
		n.faults[UnknownState]++
	}
}

// place notes a host and an executor on it.
func (b *builder) place(n *normalLine) (host, executor int32) {
	host = b.host(n.host, n.rack)
	return host, b.executor(n.executor, host, max(n.cores, 0))
}

func (b *builder) phaseLine(n *normalLine) {
	i := b.phase(valid(n.job), valid(n.phase))
	p := &b.log.Phases[i]
	if n.tasks > 0 && n.tasks <= maxTask {
		p.Tasks = int(n.tasks)
	}
	p.Submitted, p.Completed = n.submitted, n.completed
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
	a := n.a
	a.Task = n.task
	a.Host, a.Executor = b.place(n)
	if !n.stated && a.Finish.Known() {
		a.State = Succeeded
	}
	for _, name := range n.preferred {
		if host := b.host(name, nil); host > 0 {
			a.Preferred = append(a.Preferred, host)
		}
	}
	p := &b.log.Phases[b.phase(valid(n.job), valid(n.phase))]
	p.Attempts = append(p.Attempts, a)
}
