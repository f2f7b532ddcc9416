// Package pages finds the rows of tasks whose indexes grow and are never used again.
package pages

// Index has the row of each index of a set. After many insertions and deletions it needs no more memory than before. A map from
// indexes to rows would keep what it once needed. The zero value is empty. Each method is O(1).
type Index struct {
	pages map[int]*page // by the index, divided by perPage
	spare *page         // an empty page
	count int
}

// perPage is the number of indexes that a page has room for. An index that is alone in its page takes 260 bytes.
const perPage = 64

// page has the rows of indexes that follow each other: for each index one more than its row, or 0.
type page struct {
	rows [perPage]int32
	used int32
}

// Len returns the number of indexes.
func (x *Index) Len() int { return x.count }

// Row returns the row of an index, and reports whether the set has the index.
func (x *Index) Row(index int) (row int, is bool) {
	p := x.pages[index/perPage]
	if p == nil || index < 0 {
		return 0, false
	}
	row = int(p.rows[index%perPage]) - 1
	return row, row >= 0
}

// Set sets the row of an index. The index must be at least 0, and the row from 0 to 2^31 - 2.
func (x *Index) Set(index, row int) {
	p := x.pages[index/perPage]
	if p == nil {
		if x.pages == nil {
			x.pages = map[int]*page{}
		}
		if p, x.spare = x.spare, nil; p == nil {
			p = new(page)
		}
		x.pages[index/perPage] = p
	}
	if p.rows[index%perPage] == 0 {
		p.used++
		x.count++
	}
	p.rows[index%perPage] = int32(row) + 1
}

// Delete removes an index, if the set has it.
func (x *Index) Delete(index int) {
	if _, is := x.Row(index); !is {
		return
	}
	p := x.pages[index/perPage]
	p.rows[index%perPage] = 0
	x.count--
	if p.used--; p.used == 0 {
		delete(x.pages, index/perPage)
		x.spare = p
	}
}
