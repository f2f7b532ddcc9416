package cluster

// Physical is a physical machine with a disk and a network card. The machines on it share both. Machines of a
// virtualized cluster have one physical machine for several machines [LATE §5.1].
type Physical struct {
	// Disk is the speed of all reads and writes together, and Card the speed of each direction of the network card, in
	// bytes per second; 0 is infinitely fast.
	Disk, Card float64
}

// The links of a physical machine, after the links of the racks. The links of the machines come after the links of
// all physical machines.
const (
	diskLink = iota
	cardOut
	cardIn
	physicalLinks
)

// physicalLink returns a link of the physical machine of a machine.
func (s *sim) physicalLink(machine, of int32) int32 {
	return int32(2*len(s.c.Racks)+physicalLinks*s.c.Machines[machine].Physical) + of
}

// disk adds the links of a read or a write on a machine's disk: its part of the disk of its physical machine, and
// this disk.
func (s *sim) disk(links []int32, machine int32) []int32 {
	return append(links, int32(2*len(s.c.Racks)+physicalLinks*len(s.c.Physical))+machine, s.physicalLink(machine, diskLink))
}

// wire adds the links of a transfer between two machines. Machines of one physical machine need no card.
func (s *sim) wire(links []int32, from, to int32) []int32 {
	if s.c.Machines[from].Physical == s.c.Machines[to].Physical {
		return links
	}
	links = append(links, s.physicalLink(from, cardOut))
	if a, b := s.machines[from].rack, s.machines[to].rack; a != b {
		links = append(links, uplink(a), downlink(b))
	}
	return append(links, s.physicalLink(to, cardIn))
}

func uplink(rack int32) int32   { return 2 * rack }
func downlink(rack int32) int32 { return 2*rack + 1 }

// usualRate returns the speed of a machine's disk that no other flow uses.
func (s *sim) usualRate(machine int32) float64 {
	m := &s.c.Machines[machine]
	return min(capacity(m.DiskRate), capacity(s.c.Physical[m.Physical].Disk))
}

// load starts the endless writes of a machine.
func (s *sim) load(machine int32) {
	for range s.c.Machines[machine].Background {
		s.net.start(0, s.disk(nil, machine), endless, unlimited, none)
	}
}

// endless is a number of bytes that no flow carries in the time of a simulation.
const endless = 1e30

// readBlock reads the input of a task that reads no other phase. It comes from the disk of the machine, or from the
// machine of a replica. Each attempt reads another replica, and none on a machine where an attempt of the task runs.
func (s *sim) readBlock(at int32, facts *Task) {
	c := &s.copies[at]
	links := s.disk(nil, c.machine)
	if n := int32(len(facts.Replicas)); n > 0 && c.level > 0 {
		k := c.task + s.tasks[c.task].drawn
		for last := k + n; k < last && s.runsOn(c.task, facts.Replicas[k%n]); k++ {
		}
		from := facts.Replicas[k%n]
		links = s.wire(s.disk(nil, from), from, c.machine)
	}
	s.transfer(at, reads, links, facts.Bytes)
}

// fetch reads some bytes of the output of other phases. It comes from the memory of the machines that have just
// written it, and goes to the disk of the reader. While output is still missing, its racks are not known, and the
// links of racks are not used.
func (s *sim) fetch(at int32, bytes float64) {
	machine := s.copies[at].machine
	s.transfer(at, reads, append(s.disk(nil, machine), s.physicalLink(machine, cardIn)), bytes)
}

// write writes the output of a task to the disk of its machine, and reports whether there is any.
func (s *sim) write(at int32) bool {
	c := &s.copies[at]
	if c.output == 0 || len(s.c.Physical) == 0 {
		return false
	}
	s.transfer(at, writes, s.disk(nil, c.machine), c.output)
	return true
}

// transfer begins a stage that is a single flow.
func (s *sim) transfer(at int32, to stage, links []int32, bytes float64) {
	c := &s.copies[at]
	c.stage, c.since, c.flows, c.flow = to, s.now, 0, none
	s.startFlow(at, links, bytes, 1)
}
