package trace

import "slices"

// localities sets the locality of attempts from their hosts and the hosts of their input, unless the log has it. It
// runs at the end, when the racks of all hosts are known.
func (b *builder) localities() {
	for i := range b.log.Phases {
		attempts := b.log.Phases[i].Attempts
		for j := range attempts {
			if a := &attempts[j]; a.Locality == LocalityUnknown {
				a.Locality = b.locality(a)
			}
		}
	}
}

func (b *builder) locality(a *Attempt) Locality {
	if a.Host == 0 || len(a.Preferred) == 0 {
		return LocalityUnknown
	}
	if slices.Contains(a.Preferred, a.Host) {
		return NodeLocal
	}
	level := Any
	rack := b.log.Hosts[a.Host].Rack
	for _, host := range a.Preferred {
		switch other := b.log.Hosts[host].Rack; {
		case rack == "" || other == "":
			level = LocalityUnknown
		case other == rack:
			return RackLocal
		}
	}
	return level
}
