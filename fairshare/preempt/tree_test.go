package preempt

import "github.com/straggler-go/straggler/fairshare"

// forest finds the children of a pool by a search of all pools.
type forest struct{ pools []fairshare.Pool }

func (f *forest) children(parent int) (list []int) {
	for i, p := range f.pools {
		if p.Parent.Index() == parent {
			list = append(list, i)
		}
	}
	return list
}
