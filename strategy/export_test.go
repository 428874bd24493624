package strategy

// Features of an identifier, for the training of the ranking.
func (x *Index) Features(e *Entity) []float64 {
	f := x.features(e)
	return f[:]
}

// SetWeights replaces the weights of the ranking.
func SetWeights(w []float64) { copy(weights[:], w) }

// Weights returns them.
func Weights() []float64 { return append([]float64(nil), weights[:]...) }
