package trace

import "slices"

// take adds the content of another log. The other log must not be used after that.
func (l *Log) take(other *Log) {
	b := newBuilder(l.Format)
	for i, h := range l.Hosts {
		b.hosts[h.Name] = int32(i)
	}
	for i, e := range l.Executors {
		b.executors[e.Name] = int32(i)
	}
	b.log = l
	hosts := make([]int32, len(other.Hosts))
	for i, h := range other.Hosts {
		hosts[i] = b.host([]byte(h.Name), []byte(h.Rack))
	}
	executors := make([]int32, len(other.Executors))
	for i, e := range other.Executors {
		executors[i] = b.executor([]byte(e.Name), hosts[e.Host], e.Cores)
	}
	splits := int32(max(len(l.Splits)-1, 0)) // index 0 of both is nil
	if len(other.Splits) > 0 {
		l.Splits = append(l.Splits, other.Splits[min(len(l.Splits), 1):]...)
	}
	at := map[phaseName]int{}
	for i, p := range l.Phases {
		at[phaseName{p.Job, p.Name}] = i
	}
	place := make([]int, len(other.Phases))
	for i := range other.Phases {
		p := &other.Phases[i]
		for k := range p.Attempts {
			a := &p.Attempts[k]
			a.Host, a.Executor = hosts[a.Host], executors[a.Executor]
			a.Preferred = slices.Clone(a.Preferred) // other attempts may share the list
			for n, host := range a.Preferred {
				a.Preferred[n] = hosts[host]
			}
			if a.Splits > 0 {
				a.Splits += splits
			}
		}
		own, known := at[phaseName{p.Job, p.Name}]
		if !known {
			own = len(l.Phases)
			l.Phases = append(l.Phases, Phase{Job: p.Job, Name: p.Name, Kin: p.Kin, Family: p.Family})
		}
		place[i] = own
		for n, d := range p.DependsOn {
			p.DependsOn[n] = place[d]
		}
		p.DependsOn = slices.DeleteFunc(p.DependsOn, func(d int) bool { return d >= own })
		l.Phases[own].take(p)
	}
}

// take adds another part of the phase. Tasks keep their numbers if no task has a name.
func (p *Phase) take(other *Phase) {
	number := func(task int32) int32 { return task }
	if p.Names == nil && other.Names == nil {
		p.Tasks = max(p.Tasks, other.Tasks)
	} else {
		at := map[string]int32{}
		for i := range p.Tasks {
			at[p.TaskName(int32(i))] = int32(i)
		}
		for len(p.Names) < p.Tasks {
			p.Names = append(p.Names, p.TaskName(int32(len(p.Names))))
		}
		number = func(task int32) int32 {
			name := other.TaskName(task)
			if _, known := at[name]; !known {
				at[name] = int32(p.Tasks)
				p.Names = append(p.Names, name)
				p.Tasks++
			}
			return at[name]
		}
	}
	for _, a := range other.Attempts {
		a.Task = number(a.Task)
		p.Attempts = append(p.Attempts, a)
	}
	slices.SortStableFunc(p.Attempts, byStart)
	p.DependsOn = slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.DependsOn, other.DependsOn))))
	if s, known := other.Submitted.Get(); known && s < p.Submitted.Or(maxTime+1) {
		p.Submitted = other.Submitted
	}
	if other.Completed.Or(-1) > p.Completed.Or(-1) {
		p.Completed = other.Completed
	}
}
