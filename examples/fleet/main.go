// Command fleet shows how fast many schedulers find the slow machines among the machines that they share. It starts
// each scheduler as a process on this machine. Each process has a record of its own attempts, and a second record
// that the processes merge over hashicorp/memberlist. The table compares the two records.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	s := settings{}
	flag.IntVar(&s.Processes, "processes", 20, "number of schedulers, each a process")
	flag.IntVar(&s.Machines, "machines", 1000, "number of machines that the schedulers share")
	flag.IntVar(&s.Bad, "bad", 10, "number of machines that are 8 times slower")
	flag.Float64Var(&s.Rate, "rate", .1157, "attempts that all schedulers together start on each machine, per second")
	flag.DurationVar(&s.Ask, "ask", 2*time.Second, "time between two questions of a process to another process")
	flag.DurationVar(&s.Span, "span", 10*time.Minute, "duration of the simulation")
	flag.Float64Var(&s.Speed, "speed", 20, "factor by which simulated time is faster than real time; all times above are simulated")
	flag.Uint64Var(&s.Seed, "seed", 1, "seed of the simulated tasks")
	member := flag.String("member", "", "for the command itself: the settings of a process, as JSON")
	flag.Parse()
	if *member != "" {
		var m task
		fatal(json.Unmarshal([]byte(*member), &m))
		fatal(runMember(m.Process, m.Settings))
		return
	}
	all, restarted, err := run(s)
	fatal(err)
	print(os.Stdout, s, all, restarted)
}

// task contains the number and the settings of a process, which the process reads at its start.
type task struct {
	Process  int
	Settings settings
}

// process is a running process.
type process struct {
	cmd  *exec.Cmd
	tell io.Writer
	said *bufio.Reader
}

// start starts a process and waits until it is ready.
func start(t task) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, "-member", string(told))}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.said = bufio.NewReader(out)
	if p.tell, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = p.said.ReadString('\n') // the process prints a line when it is ready
	return p, err
}

// begin tells the process to begin, and returns its address.
func (p *process) begin(b begin) (string, error) {
	if err := json.NewEncoder(p.tell).Encode(b); err != nil {
		return "", err
	}
	address, err := p.said.ReadString('\n')
	return strings.TrimSpace(address), err
}

// wait returns the result that the process prints at its end.
func (p *process) wait() (s seen, err error) {
	if err = json.NewDecoder(p.said).Decode(&s); err == io.EOF {
		err = fmt.Errorf("a process ended without a result")
	}
	return s, cmp.Or(err, p.cmd.Wait())
}

// run runs all processes. After half of the time it kills the last process, and starts it again with empty records.
func run(s settings) (all []seen, restarted seen, err error) {
	list := make([]*process, s.Processes)
	defer func() {
		for _, p := range list {
			if p != nil {
				_ = p.cmd.Process.Kill()
			}
		}
	}()
	for i := range list {
		if list[i], err = start(task{i, s}); err != nil {
			return nil, restarted, err
		}
	}
	s.Start = time.Now()
	first := ""
	for i, p := range list {
		address, err := p.begin(begin{s.Start, first})
		if err != nil {
			return nil, restarted, err
		}
		if i == 0 {
			first = address
		}
	}
	last := s.Processes - 1
	time.Sleep(time.Until(s.Start.Add(time.Duration(float64(s.Span) / 2 / s.Speed))))
	_ = list[last].cmd.Process.Kill()
	_ = list[last].cmd.Wait()
	if list[last], err = start(task{last, s}); err != nil {
		return nil, restarted, err
	}
	if _, err = list[last].begin(begin{s.Start, first}); err != nil {
		return nil, restarted, err
	}
	for i, p := range list {
		said, err := p.wait()
		if err != nil {
			return nil, restarted, err
		}
		if list[i] = nil; i == last {
			restarted = said
		} else {
			all = append(all, said)
		}
	}
	return all, restarted, nil
}

// print prints how soon, and how well, the processes found the bad machines.
func print(w io.Writer, s settings, all []seen, restarted seen) {
	row := func(what string, of func(named) string) {
		var alone, together []string
		for _, p := range all {
			alone, together = append(alone, of(p.Alone)), append(together, of(p.Together))
		}
		fmt.Fprintf(w, "%-44s %14s %14s\n", what, spread(alone), spread(together))
	}
	fmt.Fprintf(w, "%d processes; %d machines, of which %d are 8 times slower; %.1f attempts per second; "+
		"%v, simulated %v times as fast\n\n", s.Processes, s.Machines, s.Bad, s.Rate*float64(s.Machines), s.Span, s.Speed)
	fmt.Fprintf(w, "%-44s %14s %14s\n", "of all processes: least, median, most", "alone", "together")
	row("half of the bad machines found after, s", func(n named) string {
		if n.Half == 0 {
			return "never"
		}
		return strconv.Itoa(int(n.Half.Seconds()))
	})
	row("bad machines found in the end", func(n named) string { return strconv.Itoa(n.Bad) })
	row("good machines ever taken for bad", func(n named) string { return strconv.Itoa(n.Wrong) })
	attempts, sent := restarted.Attempts, restarted.Sent
	for _, p := range all {
		attempts, sent = attempts+p.Attempts, sent+p.Sent
	}
	each := float64(sent) / float64(s.Processes)
	fmt.Fprintf(w, "\nsent by each process: %.1f kB per second, %.1f bytes for each attempt of all processes\n",
		each/s.Span.Seconds()/1000, each/float64(attempts))
	fmt.Fprintf(w, "a process was killed after half of the time and started again without data: "+
		"half of the bad machines found %.1f s later\n",
		(restarted.Together.Half - restarted.Began).Seconds())
}

// spread returns the least, the median and the largest of the numbers. A word such as never is larger than any number.
func spread(list []string) string {
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	if list[0] == list[len(list)-1] {
		return list[0]
	}
	return fmt.Sprintf("%s, %s, %s", list[0], list[len(list)/2], list[len(list)-1])
}
