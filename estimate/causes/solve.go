package causes

import "math"

// equations are the normal equations of a least-squares fit with three coefficients. a contains the sums of the
// products of each two columns. b contains the sums of the products of each column with the value that is fitted.
type equations struct {
	a     [columns][columns]float64
	b     coefficients
	total float64 // sum of the squares of the values
}

func (e *equations) add(x *coefficients, y float64) {
	for i := range columns {
		for j := i; j < columns; j++ {
			e.a[i][j] += float64(x[i] * x[j])
		}
		e.b[i] += float64(x[i] * y)
	}
	e.total += float64(y * y)
}

// solve returns the least-squares coefficients under the condition that none is negative. solve tries every subset
// of the three columns, with the other coefficients 0, and returns the best fit without a negative coefficient. If
// two fits are equally good, solve returns the fit with fewer columns. ok is false if there is no row.
func (e *equations) solve() (best coefficients, ok bool) {
	for i := range columns {
		for j := range i {
			e.a[i][j] = e.a[j][i]
		}
	}
	least := math.Inf(1)
	for _, use := range [...][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
		c, found := e.solveFor(use)
		if !found {
			continue
		}
		if rest := e.rest(&c); rest < least-float64(1e-12*e.total) {
			best, least, ok = c, rest, true
		}
	}
	return best, ok
}

// rest returns the sum of the squared residuals: of the differences between the values and the fit.
func (e *equations) rest(c *coefficients) float64 {
	rest := e.total
	for i := range columns {
		rest -= float64(2 * c[i] * e.b[i])
		for j := range columns {
			rest += float64(c[i] * c[j] * e.a[i][j])
		}
	}
	return rest
}

// solveFor solves the equations for a subset of the columns by Gaussian elimination, with all other coefficients 0.
// It returns false if a coefficient is negative, or if the columns are linearly dependent.
func (e *equations) solveFor(use []int) (c coefficients, ok bool) {
	n := len(use)
	var m [columns][columns + 1]float64
	for i, from := range use {
		for j, to := range use {
			m[i][j] = e.a[from][to]
		}
		m[i][n] = e.b[from]
	}
	// No pivoting is needed: if the columns are linearly independent, the matrix is symmetric and positive
	// definite. If they are dependent, the condition in this loop detects it.
	for k := range n {
		if !(m[k][k] > 1e-12*e.a[use[k]][use[k]]) {
			return c, false
		}
		for i := k + 1; i < n; i++ {
			factor := m[i][k] / m[k][k]
			for j := k; j <= n; j++ {
				m[i][j] -= float64(factor * m[k][j])
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		x := m[k][n]
		for j := k + 1; j < n; j++ {
			x -= float64(m[k][j] * c[use[j]])
		}
		if x /= m[k][k]; !(x >= 0) || math.IsInf(x, 1) {
			return c, false
		}
		c[use[k]] = x
	}
	return c, true
}
