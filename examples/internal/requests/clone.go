package requests

import "github.com/straggler-go/straggler/clone"

// cloner sends the requests of a fan-out several times at once, within a budget of package clone. For package clone,
// a fan-out is a small job, and a busy server is a slot in use.
type cloner struct{ budget *clone.Budget }

// grant is the part of the budget that a fan-out uses.
type grant = clone.Grant

func newCloner(c *Config) (*cloner, error) {
	if c.Clone == nil {
		return nil, nil
	}
	budget, err := clone.NewBudget(*c.Clone)
	return &cloner{budget}, err
}

// admit returns the number of copies of each request to send.
func (c *cloner) admit(s *sim, id int32) int {
	if c == nil {
		return 1
	}
	d := c.budget.Admit(clone.Job{Tasks: s.c.Fan}, clone.Cluster{
		Capacity: s.c.Servers, Busy: s.c.Servers - s.idle, Straggler: s.c.Straggler,
	})
	s.tell(id, "%v", d)
	s.fanouts[id].grant = d.Grant
	return d.Clones
}

// ended returns the grant of a request to the budget, when no copy of the request is left.
func (c *cloner) ended(g grant) {
	if c != nil {
		c.budget.Release(g, 1)
	}
}
