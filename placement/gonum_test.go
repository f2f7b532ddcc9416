package placement

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// newtonSystem is a system of equations as the relaxation solves it, with its right-hand side.
func newtonSystem(tb testing.TB, tasks, racks int) (s *system, matrix *mat.SymDense) {
	p := instance("shuffle", tasks, racks, 1)
	r := newRelaxation(newModel(&p))
	r.residuals()
	r.system.build(r.x, r.slack, r.t)
	s = &r.system
	for i := range s.right {
		s.right[i] = math.Sqrt(float64(i + 1))
	}
	matrix = mat.NewSymDense(s.size, nil)
	for a := range s.size {
		for b := range a + 1 {
			matrix.SetSym(a, b, s.lower[a*s.size+b])
		}
	}
	return s, matrix
}

// gonum solves the same system, but rounds differently. With -v the test prints a hash of both solutions. The hash of
// gonum's solution is different with -tags noasm, so gonum's answer depends on the machine: docs/decisions/20-gonum.md.
func TestGonumSolvesTheSystemWithOtherRounding(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {200, 20}} {
		s, matrix := newtonSystem(t, size[0], size[1])
		var c mat.Cholesky
		x := mat.NewVecDense(s.size, nil)
		require.True(t, c.Factorize(matrix))
		require.NoError(t, c.SolveVecTo(x, mat.NewVecDense(s.size, slices.Clone(s.right))))
		require.True(t, s.factor())
		s.solve()
		own, gonum := fnv.New32a(), fnv.New32a()
		for i, v := range s.right {
			assert.InDelta(t, v, x.AtVec(i), 1e-6*(1+math.Abs(v)))
			fmt.Fprintf(own, "%b ", v)
			fmt.Fprintf(gonum, "%b ", x.AtVec(i))
		}
		t.Logf("%d unknowns: own %08x, gonum %08x", s.size, own.Sum32(), gonum.Sum32())
	}
}

// BenchmarkSolve factors and solves a system of the relaxation, with own code and with gonum's.
func BenchmarkSolve(b *testing.B) {
	for _, size := range [][2]int{{20, 5}, {200, 20}, {1000, 40}} {
		s, matrix := newtonSystem(b, size[0], size[1])
		lower, right := slices.Clone(s.lower), slices.Clone(s.right)
		b.Run(fmt.Sprintf("own/%d", s.size), func(b *testing.B) {
			for b.Loop() {
				copy(s.lower, lower)
				copy(s.right, right)
				s.factor()
				s.solve()
			}
		})
		b.Run(fmt.Sprintf("gonum/%d", s.size), func(b *testing.B) {
			var c mat.Cholesky
			x := mat.NewVecDense(s.size, nil)
			for b.Loop() {
				c.Factorize(matrix)
				_ = c.SolveVecTo(x, mat.NewVecDense(s.size, right))
			}
		})
	}
}
