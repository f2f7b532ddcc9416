// Command fleet shows what many schedulers know of the machines that they share, each by itself and together: it starts
// processes that pass on to each other what they learn, over hashicorp/memberlist on this machine.
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
	flag.IntVar(&s.Processes, "processes", 20, "how many schedulers there are, each a process")
	flag.IntVar(&s.Machines, "machines", 1000, "how many machines they place on")
	flag.IntVar(&s.Bad, "bad", 10, "how many of these are 8 times slower")
	flag.Float64Var(&s.Rate, "rate", .1157, "attempts that start on a machine, by all schedulers, a second")
	flag.DurationVar(&s.Ask, "ask", 2*time.Second, "how often a process asks another")
	flag.DurationVar(&s.Span, "span", 10*time.Minute, "how long it goes on")
	flag.Float64Var(&s.Speed, "speed", 20, "how many times faster than real time passes, all times above included")
	flag.Uint64Var(&s.Seed, "seed", 1, "of what happens to the tasks")
	member := flag.String("member", "", "what a process is told that this one starts")
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

// task is what a process is told.
type task struct {
	Process  int
	Settings settings
}

// process is one that runs.
type process struct {
	cmd  *exec.Cmd
	tell io.Writer
	said *bufio.Reader
}

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
	_, err = p.said.ReadString('\n') // that it is ready
	return p, err
}

// begin lets a process begin, and returns its address.
func (p *process) begin(b begin) (string, error) {
	if err := json.NewEncoder(p.tell).Encode(b); err != nil {
		return "", err
	}
	address, err := p.said.ReadString('\n')
	return strings.TrimSpace(address), err
}

// wait returns what a process has to say in the end.
func (p *process) wait() (s seen, err error) {
	if err = json.NewDecoder(p.said).Decode(&s); err == io.EOF {
		err = fmt.Errorf("a process ended without a word")
	}
	return s, cmp.Or(err, p.cmd.Wait())
}

// run runs a fleet, and half way kills the last process and starts it again with nothing.
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

// print prints what the processes knew.
func print(w io.Writer, s settings, all []seen, restarted seen) {
	row := func(what string, of func(named) string) {
		var alone, together []string
		for _, p := range all {
			alone, together = append(alone, of(p.Alone)), append(together, of(p.Together))
		}
		fmt.Fprintf(w, "%-44s %14s %14s\n", what, spread(alone), spread(together))
	}
	fmt.Fprintf(w, "%d processes, %d machines of which %d are 8 times slower, %.1f attempts a second; "+
		"%v, %v times as fast\n\n", s.Processes, s.Machines, s.Bad, s.Rate*float64(s.Machines), s.Span, s.Speed)
	fmt.Fprintf(w, "%-44s %14s %14s\n", "of each process: least, median, most", "alone", "together")
	row("half of the bad machines named after, s", func(n named) string {
		if n.Half == 0 {
			return "never"
		}
		return strconv.Itoa(int(n.Half.Seconds()))
	})
	row("bad machines named in the end", func(n named) string { return strconv.Itoa(n.Bad) })
	row("others ever named", func(n named) string { return strconv.Itoa(n.Wrong) })
	attempts, sent := restarted.Attempts, restarted.Sent
	for _, p := range all {
		attempts, sent = attempts+p.Attempts, sent+p.Sent
	}
	each := float64(sent) / float64(s.Processes)
	fmt.Fprintf(w, "\nsent by each process: %.1f kB a second, %.1f bytes for each attempt of the fleet\n",
		each/s.Span.Seconds()/1000, each/float64(attempts))
	fmt.Fprintf(w, "killed half way and started again with nothing: half of the bad machines named %.1f s after that\n",
		(restarted.Together.Half - restarted.Began).Seconds())
}

// spread returns the least, the median and the most of numbers; words are more than any.
func spread(list []string) string {
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	if list[0] == list[len(list)-1] {
		return list[0]
	}
	return fmt.Sprintf("%s, %s, %s", list[0], list[len(list)/2], list[len(list)-1])
}
