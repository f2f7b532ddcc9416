package queue

import "time"

// Scenario is a batch of tasks and what befalls it. A field that is zero befalls nobody.
type Scenario struct {
	Name    string
	Tasks   int           // 0 stands for 160
	Seconds float64       // of a task, times e^(.2 N); 0 stands for .6
	Long    bool          // every 12th task, those with i mod 12 = 5, takes six times as long
	Told    bool          // the coordinator knows how long each task takes on a good worker
	Reports bool          // attempts report how far they are
	Slow    float64       // the last worker takes so many times as long
	Hang    float64       // share of attempts that do nothing until they are told to end
	Fail    float64       // share of attempts that fail half-way
	Stopped Span          // the last worker stands still, and goes on
	Killed  Span          // the last worker is killed, and comes back
	Outage  time.Duration // until when every attempt fails, OutageFails after its begin

	CoordinatorKilled []time.Duration // when
	SecondCoordinator time.Duration   // when a second one starts by accident; 0: never
}

// OutageFails is after what time an attempt fails during an outage.
const OutageFails = 20 * time.Millisecond

// Span is a time from an instant to another.
type Span struct{ From, Till time.Duration }

func (s Span) holds(at time.Duration) bool { return at >= s.From && at < s.Till }

// Scenarios lists the scenarios.
func Scenarios() []Scenario {
	stopped := Span{1500 * time.Millisecond, 9500 * time.Millisecond}
	mixed := Scenario{Slow: 8, Long: true, Hang: .02, Fail: .04}
	of := func(name string, change func(*Scenario)) Scenario {
		s := mixed
		s.Name = name
		change(&s)
		return s
	}
	killed := []time.Duration{600, 1900, 3100, 4700}
	for i := range killed {
		killed[i] *= time.Millisecond
	}
	return []Scenario{
		{Name: "healthy"},
		{Name: "one worker 8x", Slow: 8},
		{Name: "one worker 8x, progress", Slow: 8, Reports: true},
		{Name: "one worker 8x, 80 of 2 s", Slow: 8, Tasks: 80, Seconds: 2},
		{Name: "SIGSTOP for 8 s", Stopped: stopped},
		{Name: "SIGSTOP for 8 s, progress", Stopped: stopped, Reports: true},
		{Name: "3 % hang", Hang: .03},
		{Name: "3 % hang, 80 of 2 s", Hang: .03, Tasks: 80, Seconds: 2},
		{Name: "8 % fail", Fail: .08},
		{Name: "long, told", Long: true, Told: true},
		{Name: "long, untold", Long: true},
		{Name: "long, untold, progress", Long: true, Reports: true},
		of("mixed", func(*Scenario) {}),
		of("mixed, progress", func(s *Scenario) { s.Reports = true }),
		of("mixed, progress, 80 of 2 s", func(s *Scenario) { s.Reports, s.Tasks, s.Seconds = true, 80, 2 }),
		of("mixed, told", func(s *Scenario) { s.Told = true }),
		of("mixed, coordinator killed", func(s *Scenario) { s.CoordinatorKilled = killed }),
		of("mixed, two coordinators", func(s *Scenario) { s.SecondCoordinator = 1100 * time.Millisecond }),
		{Name: "a worker dies", Killed: Span{1500 * time.Millisecond, 5500 * time.Millisecond}},
		{Name: "outage of 3 s", Outage: 3 * time.Second},
	}
}

func (s *Scenario) tasks() int {
	if s.Tasks == 0 {
		return 160
	}
	return s.Tasks
}

// usual is how long a task of usual size takes on a good worker, in seconds.
func (s *Scenario) usual() float64 {
	if s.Seconds == 0 {
		return usualSeconds
	}
	return s.Seconds
}

const usualSeconds = .6

// timeout is the hard timeout of an attempt. It grows with the tasks: those of 12 s could not end within 8.
func (s *Scenario) timeout() time.Duration {
	return time.Duration(s.usual() / usualSeconds * float64(Timeout))
}

// seconds is how long a task takes on a good worker.
func (s *Scenario) seconds(l luck, task int) float64 {
	usual := s.usual()
	if s.Long && task%12 == 5 {
		usual *= 6
	}
	return usual * l.size(task)
}
