package clinic

// Age is the number of whole years lived on a date. The rule for a 29 February
// birth: in a year without one, the person turns a year older on 1 March. A date
// before the birth gives a negative number.
func Age(birth, on Date) int {
	years := on.Year - birth.Year
	if on.Month < birth.Month || on.Month == birth.Month && on.Day < birth.Day {
		years--
	}
	return years
}
