package cluster

import (
	"errors"
	"fmt"
	"math"
)

// validate returns an error for a machine that is not valid.
func (m *Machine) validate() error {
	if !(m.Speed >= 0) || math.IsInf(m.Speed, 1) {
		return fmt.Errorf("speed %v: must be finite and not negative", m.Speed)
	}
	if !(m.DiskRate >= 0) || m.Background < 0 {
		return fmt.Errorf("disk rate %v, %d background writes: must not be negative", m.DiskRate, m.Background)
	}
	if m.Disk < 0 {
		return fmt.Errorf("disk %d: must not be negative", m.Disk)
	}
	for _, s := range m.Slow {
		if !(s.Factor > 0) || math.IsInf(s.Factor, 1) || s.At < 0 || s.For < 0 {
			return fmt.Errorf("slow spell at %v for %v, factor %v: must be finite, and the factor above 0", s.At, s.For, s.Factor)
		}
	}
	for k, n := range m.Slots {
		if n < 0 {
			return fmt.Errorf("%d %v slots: must not be negative", n, Kind(k))
		}
	}
	return nil
}

// validate returns an error for a configuration that is not valid.
func (c *Config) validate() error {
	if !(c.Disk >= 0) || !(c.Remote >= 0) {
		return fmt.Errorf("cluster: Disk %v, Remote %v: must not be negative", c.Disk, c.Remote)
	}
	if !(c.Contention >= 0 && c.Contention <= 1) {
		return fmt.Errorf("cluster: Contention %v: must be from 0 to 1", c.Contention)
	}
	if c.Interval < 0 || c.Lag < 0 || c.Heartbeat < 0 {
		return fmt.Errorf("cluster: Interval %v, Lag %v, Heartbeat %v: must not be negative", c.Interval, c.Lag, c.Heartbeat)
	}
	if c.Replicate != nil && c.Replicate.Ahead != nil && !c.LateNotice {
		return errors.New("cluster: Replicate.Ahead: needs LateNotice, as otherwise every loss is noticed at once")
	}
	if n := len(c.Order.Pools); n > 0 {
		for i, j := range c.Jobs {
			if j.Pool < 0 || j.Pool >= n {
				return fmt.Errorf("cluster: job %d: pool %d: there are %d", i, j.Pool, n)
			}
		}
	}
	for i, h := range c.Physical {
		if !(h.Disk >= 0) || !(h.Card >= 0) {
			return fmt.Errorf("cluster: physical machine %d: disk %v, card %v: must not be negative", i, h.Disk, h.Card)
		}
	}
	for i, m := range c.Machines {
		if n := len(c.Physical); m.Physical < 0 || m.Physical >= max(1, n) || n == 0 && m.Background > 0 {
			return fmt.Errorf("cluster: machine %d: physical machine %d: there are %d", i, m.Physical, n)
		}
		if m.Rack < 0 || m.Rack >= max(1, len(c.Racks)) {
			return fmt.Errorf("cluster: machine %d: rack %d: there are %d", i, m.Rack, len(c.Racks))
		}
		if err := m.validate(); err != nil {
			return fmt.Errorf("cluster: machine %d: %w", i, err)
		}
	}
	for i, j := range c.Jobs {
		if j.Follows < 0 || j.Follows > i {
			return fmt.Errorf("cluster: job %d: follows job number %d: must come before it", i, j.Follows)
		}
		if j.At < 0 {
			return fmt.Errorf("cluster: job %d: comes at %v: must not be negative", i, j.At)
		}
		for k, p := range j.Phases {
			if p.Kind >= kinds || len(p.Tasks) == 0 {
				return fmt.Errorf("cluster: job %d phase %d: kind %d, %d tasks: needs a kind and a task", i, k, p.Kind, len(p.Tasks))
			}
			for _, a := range p.After {
				if a < 0 || a >= k {
					return fmt.Errorf("cluster: job %d phase %d: reads phase %d, which is not before it", i, k, a)
				}
			}
			if err := p.Keys.validate(&c.Jobs[i], &j.Phases[k]); err != nil {
				return fmt.Errorf("cluster: job %d phase %d: %w", i, k, err)
			}
			for t, task := range p.Tasks {
				if !(task.Seconds >= 0) || !(task.Bytes >= 0) || !(task.Writes >= 0) {
					return fmt.Errorf("cluster: job %d phase %d task %d: %v s, reads %v and writes %v bytes: must not be negative",
						i, k, t, task.Seconds, task.Bytes, task.Writes)
				}
				for _, m := range task.Replicas {
					if int(m) >= len(c.Machines) || m < 0 {
						return fmt.Errorf("cluster: job %d phase %d task %d: replica on machine %d of %d",
							i, k, t, m, len(c.Machines))
					}
				}
			}
		}
	}
	return nil
}
