package reduce

import "slices"

// pageLen is the number of elements per page. Changing an element of a shared
// page copies the page.
const pageLen = 64

type page[T any] [pageLen]T

// A list is a sequence that shares unchanged pages with its clones. A clone copies one
// word per page, and a change copies at most one page. A copy of the struct is the same
// list, as with slices. A list is not safe for concurrent use, but several lists that
// share pages may be read concurrently.
type list[T any] struct {
	pages []*page[T]
	own   []bool // whether a page belongs to this list alone
	n     int
}

// len returns the number of elements.
func (l *list[T]) len() int { return l.n }

// at returns element i, for reading.
func (l *list[T]) at(i int) *T { return &l.pages[i/pageLen][i%pageLen] }

// edit returns element i, for writing.
func (l *list[T]) edit(i int) *T {
	p := i / pageLen
	if !l.own[p] {
		mine := *l.pages[p]
		l.pages[p], l.own[p] = &mine, true
	}
	return &l.pages[p][i%pageLen]
}

// add appends an element.
func (l *list[T]) add(x T) {
	if l.n == len(l.pages)*pageLen {
		l.pages, l.own = append(l.pages, new(page[T])), append(l.own, true)
	}
	l.n++
	*l.edit(l.n - 1) = x
}

// clone returns another list that shares the pages of l. After that, l must not
// be edited, but may be appended to.
func (l *list[T]) clone() list[T] {
	return list[T]{pages: slices.Clone(l.pages), own: make([]bool, len(l.pages)), n: l.n}
}

// cut removes the elements from n on.
func (l *list[T]) cut(n int) {
	full := (n + pageLen - 1) / pageLen
	l.pages, l.own, l.n = l.pages[:full:full], l.own[:full:full], n
}

// shares reports whether both lists share the page of element i, so that all
// elements of that page are the same.
func (l *list[T]) shares(with *list[T], i int) bool {
	p := i / pageLen
	return p < len(l.pages) && p < len(with.pages) && l.pages[p] == with.pages[p]
}
