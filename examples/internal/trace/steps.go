package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// Columns are the names of the columns of a table with a row for each worker in each step of a job with a barrier.
type Columns struct {
	// Step and Worker are the columns with the step and the worker.
	Step, Worker string
	// Seconds is the column with the time of the worker's own work in the step; several columns, joined by +, are added.
	// The name of a column may contain a +, too: the longest names that the table has are taken.
	Seconds string
	// Group is the column with the stage, in which all members should take equally long; empty: all are equal. Position is
	// the column with the position in the stage; empty: the order in the step. Machine is the column with the machine,
	// if workers change their machines; empty: the worker. Size is the column with the amount of work; empty: not known.
	Group, Position, Machine, Size string
}

// Steps are the rows of a table of steps.
type Steps struct {
	// Labels are the names of the steps, in their order: numbers by value, other names as in the table.
	Labels []string
	// Rows are the rows of each step.
	Rows [][]StepRow
	// Lacking are the workers that some steps lack because their time is impossible, in the order of the table.
	Lacking []Lacking
	// Faults are the errors in the table. Repeated are rows with a worker that the step already has.
	Faults Faults
}

// StepRow is a worker in a step.
type StepRow struct {
	Worker, Group, Position, Machine string
	Seconds, Size                    float64 // Size is 0 if it is not known
}

// Lacking is a worker with impossible times, such as NaN, 0 or 1e300 seconds, and the number of steps that lack it.
type Lacking struct {
	Worker, Group string
	Steps         int
}

// ReadSteps reads a table with the columns, plain or compressed. The first line has the names of the columns, separated
// by commas, tabs or semicolons. Rows without a positive time are faults, and leave their workers in Lacking.
func ReadSteps(r io.Reader, name string, c Columns) (*Steps, error) {
	s, err := readSteps(r, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Printable(name), err)
	}
	return s, nil
}

func readSteps(r io.Reader, c Columns) (*Steps, error) {
	in, err := newInput(r)
	defer in.close()
	if err != nil {
		return nil, err
	}
	lines := newLineReader(in, maxRecord, nil)
	var t *stepTable
	for {
		line, end := lines.next()
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case end == none:
			return t.finish(in)
		case end == tooLong && t != nil:
			t.steps.Faults[TooLong]++
		case len(bytes.TrimSpace(line)) == 0:
		case t == nil:
			if t, err = newStepTable(line, c); err != nil {
				return nil, err
			}
		case string(line) == t.heading: // another table begins
		case !t.row(line) && end == last:
			t.steps.Faults[HalfLast]++
		case t.wrongWidth:
			t.steps.Faults[WrongWidth]++
		case !t.ok:
			t.steps.Faults[Broken]++
		}
	}
}

// stepTable reads the rows of a table of steps.
type stepTable struct {
	steps   *Steps
	heading string // the first line
	sep     byte
	columns int
	at      [6]int // of step, worker, group, position, machine and size; -1 if the table has none
	seconds []int
	fields  [][]byte
	ok      bool // the last row was read
	// wrongWidth says that the last row has more or fewer values than the table has columns.
	wrongWidth bool
	index      map[string]int
	seen       map[[2]string]bool // workers of steps with a time
	without    []without
}

// without is a worker of a step whose time is impossible.
type without struct {
	key           [2]string // as in stepTable.seen
	worker, group string
}

// lacking counts the steps of each worker that have only impossible times of it. seen are the workers of steps with a time;
// lacking adds the workers that it counts, so that a step with two such rows counts once.
func lacking(rows []without, seen map[[2]string]bool) (all []Lacking) {
	index := map[[2]string]int{}
	for _, w := range rows {
		if seen[w.key] {
			continue
		}
		seen[w.key] = true
		i, ok := index[[2]string{w.group, w.worker}]
		if !ok {
			i = len(all)
			index[[2]string{w.group, w.worker}], all = i, append(all, Lacking{Worker: w.worker, Group: w.group})
		}
		all[i].Steps++
	}
	return all
}

func newStepTable(heading []byte, c Columns) (*stepTable, error) {
	t := &stepTable{steps: &Steps{}, heading: string(heading), index: map[string]int{}, seen: map[[2]string]bool{}}
	var names []string
	for _, sep := range []byte(",\t;") {
		if fields, ok := fieldsOf(heading, sep, nil); ok && len(fields) > len(names) {
			t.sep, names = sep, nil
			for _, f := range fields {
				names = append(names, nameOf(bytes.TrimSpace(f)))
			}
		}
	}
	t.columns = len(names)
	find := func(name string) (int, error) {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return i, fmt.Errorf("the table has no column %q; its columns are %s", name, strings.Join(names, ", "))
		}
		return i, nil
	}
	for i, name := range []string{c.Step, c.Worker, c.Group, c.Position, c.Machine, c.Size} {
		t.at[i] = -1
		if name == "" {
			continue
		}
		var err error
		if t.at[i], err = find(name); err != nil {
			return nil, err
		}
	}
	for parts := strings.Split(c.Seconds, "+"); len(parts) > 0; {
		n := len(parts)
		i, err := find(strings.Join(parts, "+"))
		for ; err != nil && n > 1; n-- {
			i, err = find(strings.Join(parts[:n-1], "+"))
		}
		if err != nil {
			return nil, err
		}
		t.seconds, parts = append(t.seconds, i), parts[n:]
	}
	return t, nil
}

// row reads a row; false if it is not whole.
func (t *stepTable) row(line []byte) bool {
	t.fields, t.ok = fieldsOf(line, t.sep, t.fields)
	if t.wrongWidth = t.ok && len(t.fields) != t.columns; !t.ok || t.wrongWidth {
		t.ok = false
		return false
	}
	field := func(i int) string {
		if t.at[i] < 0 {
			return ""
		}
		return nameOf(bytes.TrimSpace(t.fields[t.at[i]]))
	}
	step := field(0)
	r := StepRow{Worker: field(1), Group: field(2), Position: field(3), Machine: field(4)}
	r.Size, _ = strconv.ParseFloat(field(5), 64)
	possible, fault := true, BadTime
	for _, i := range t.seconds {
		s, err := strconv.ParseFloat(string(bytes.TrimSpace(t.fields[i])), 64)
		possible = possible && err == nil && s >= 0 && s*1000 < maxTime
		r.Seconds += s
		if err != nil {
			fault = unreadable(t.fields[i])
		}
	}
	switch key := [2]string{step, r.Group + "\x00" + r.Worker}; {
	case !possible || r.Seconds < leastSeconds:
		t.steps.Faults[fault]++
		t.without = append(t.without, without{key, r.Worker, r.Group})
	case t.seen[key]:
		t.steps.Faults[Repeated]++
	default:
		t.seen[key] = true
		i, ok := t.index[step]
		if !ok {
			i = len(t.steps.Labels)
			t.index[step] = i
			t.steps.Labels, t.steps.Rows = append(t.steps.Labels, step), append(t.steps.Rows, nil)
		}
		t.steps.Rows[i] = append(t.steps.Rows[i], r)
	}
	return true
}

// leastSeconds is the shortest time of a row. A shorter one is 0 in nanoseconds.
const leastSeconds = 1e-9

// finish sorts the steps, if their names are numbers.
func (t *stepTable) finish(in *input) (*Steps, error) {
	if t == nil {
		return nil, errBlank
	}
	if in.source.err != nil {
		return nil, in.source.err
	}
	s := t.steps
	if in.cut != nil {
		s.Faults[CutStream]++
	}
	s.Lacking = lacking(t.without, t.seen)
	if len(s.Labels) == 0 {
		return nil, fmt.Errorf("the table has no row with a step and a time; %v", s.Faults)
	}
	order, numbers := make([]int, len(s.Labels)), make([]float64, len(s.Labels))
	for i, label := range s.Labels {
		n, err := strconv.ParseFloat(label, 64)
		if err != nil || math.IsNaN(n) {
			return s, nil
		}
		order[i], numbers[i] = i, n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	sorted := &Steps{Faults: s.Faults, Lacking: s.Lacking}
	for _, i := range order {
		sorted.Labels, sorted.Rows = append(sorted.Labels, s.Labels[i]), append(sorted.Rows, s.Rows[i])
	}
	return sorted, nil
}

// StepsOf returns the phases of a log as steps, if they are steps of one job: at least leastSteps phases with equally many
// tasks of which each ran on a machine of its own. It returns nil for any other log. Logs are read in whole milliseconds.
// If the steps are too short for that, StepsOf returns nil, and a hint if the log itself names steps.
func StepsOf(log *Log) (steps *Steps, hint string) {
	kinds := map[[2]string]int{}
	var most [2]string
	for i := range log.Phases {
		if p := &log.Phases[i]; p.barrier() {
			key := p.kindOfStep()
			if kinds[key]++; kinds[key] > kinds[most] {
				most = key
			}
		}
	}
	if kinds[most] < leastSteps && !(most[1] == "steps" && kinds[most] > 1) {
		return nil, ""
	}
	s := &Steps{}
	seen := map[[2]string]bool{} // workers of steps with a time
	var none []without
	var seconds []float64
	for i := range log.Phases {
		p := &log.Phases[i]
		if !p.barrier() || p.kindOfStep() != most {
			continue
		}
		var rows []StepRow
		for k := range p.Attempts {
			a := &p.Attempts[k]
			d, ok := a.Duration()
			name := p.TaskName(a.Task)
			key := [2]string{strconv.Itoa(i), name}
			if ok && d <= 0 {
				none = append(none, without{key, name, log.Stages[name]})
			}
			if !ok || d <= 0 {
				continue
			}
			seen[key] = true
			r := StepRow{
				Worker: name, Group: log.Stages[name], Position: name,
				Machine: log.Hosts[a.Host].Name, Seconds: d.Seconds(),
			}
			seconds = append(seconds, r.Seconds)
			if size, ok := a.Input.Get(); ok {
				r.Size = float64(size)
			}
			rows = append(rows, r)
		}
		slices.SortFunc(rows, func(a, b StepRow) int { return cmp.Compare(a.Worker, b.Worker) })
		s.Labels, s.Rows = append(s.Labels, p.Name), append(s.Rows, rows)
	}
	s.Lacking = lacking(none, seen)
	slices.Sort(seconds)
	if len(seconds) == 0 || seconds[len(seconds)/2] < shortestStep {
		if most[1] == "steps" {
			hint = fmt.Sprintf("the steps are too short to compare workers: times are whole milliseconds, and half of them are under "+
				"%g s; write a table of the steps, and name its columns with -step, -worker and -seconds", shortestStep)
		}
		return nil, hint
	}
	return s, ""
}

// inStage notes that a worker of steps belongs to a stage.
func (b *builder) inStage(worker, stage string) {
	had := b.log.Stages[worker]
	if stage == "" || stage == had {
		return
	}
	if b.log.Stages == nil {
		b.log.Stages = map[string]string{}
	}
	if had != "" {
		all := append(strings.Split(had, "+"), stage)
		slices.Sort(all)
		stage = strings.Join(slices.Compact(all), "+")
	}
	b.log.Stages[worker] = stage
}

// unfinished notes how many tasks of steps were left out, because a span of theirs has not ended.
func (b *builder) unfinished(tasks int) {
	if tasks > 0 {
		b.hint(fmt.Sprintf("tasks of steps, left out because a span in them has not ended: %d", tasks))
	}
}

// shortestStep is in seconds. In shorter steps a millisecond, to which times are cut, is over 1 % of a time, and a worker
// that is slower by less than that would seem slower by more.
const shortestStep = .1

// kindOfStep is the same for steps of one job. Steps that the log itself names may lack members.
func (p *Phase) kindOfStep() [2]string {
	if p.Step {
		return [2]string{p.Job, "steps"}
	}
	return [2]string{p.Job, strconv.Itoa(p.Tasks)}
}

// leastSteps is the number of phases from which a log is read as steps.
const leastSteps = 20

// barrier reports whether a phase may be a step: its tasks are alike, each succeeded once, and ran on a machine of its
// own at the same time as the others.
func (p *Phase) barrier() bool {
	if p.Step {
		return true
	}
	if p.Kin != alike.Alike || p.Tasks < 2 || len(p.Attempts) != p.Tasks {
		return false
	}
	hosts := map[int32]bool{}
	latest, earliest := int64(0), int64(maxTime)
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if d, ok := a.Duration(); !ok || d <= 0 || a.State != Succeeded || a.Host == 0 || hosts[a.Host] {
			return false
		}
		hosts[a.Host] = true
		latest, earliest = max(latest, a.Start.Or(0)), min(earliest, a.Finish.Or(0))
	}
	return latest < earliest
}
