package requests

import "github.com/straggler-go/straggler/clone"

// cloner sends the requests of a fan-out several times at once, as package clone admits: a fan-out is a small job, and
// a server that works is a slot in use.
type cloner struct{ budget *clone.Budget }

// grant is what a fan-out has been given of the budget.
type grant = clone.Grant

func newCloner(c *Config) (*cloner, error) {
	if c.Clone == nil {
		return nil, nil
	}
	budget, err := clone.NewBudget(*c.Clone)
	return &cloner{budget}, err
}

// admit asks how many copies of each request to send.
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

// ended gives back what a request was granted, when none of its copies is left.
func (c *cloner) ended(g grant) {
	if c != nil {
		c.budget.Release(g, 1)
	}
}
