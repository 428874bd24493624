package strategy

// mostListedRules is the number of rules of a list up to which each keeps its whole value. A
// longer list is a specification. It stands among the words of the user until these are cut, so
// its rules give way to other rules.
const mostListedRules = 8

// listedShare is the factor of the rules of a longer list.
const listedShare = 0.4

// weighListed lowers the values of the rules of a long list. listed has their indexes.
func weighListed(all []fact, listed []int) {
	if len(listed) <= mostListedRules {
		return
	}
	for _, i := range listed {
		all[i].Value *= listedShare
	}
}
