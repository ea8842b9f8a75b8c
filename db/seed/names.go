package seed

// Names to draw from, with the letters, apostrophes, hyphens and double surnames that lists of patients really have.

var givenNames = []string{
	"Aage", "Åse", "Agnieszka", "Ahmed", "Aisha", "Alba", "Albert", "Alejandro", "Alma", "Amalie", "Amir", "Ana", "Anders", "André", "Anne-Marie",
	"Arne", "Asger", "Astrid", "Aurélie", "Ayşe", "Bartłomiej", "Beatriz", "Bente", "Bjørn", "Björk", "Bo", "Bodil", "Børge", "Camille", "Carl",
	"Cathrine", "Chiara", "Christian", "Clara", "Đorđe", "Daniel", "Dariusz", "David", "Ditte", "Dorthe", "Ebba", "Elena", "Elif", "Elisabeth", "Ellen",
	"Emil", "Emilie", "Erik", "Esben", "Esther", "Eva", "Fatima", "Finn", "Flemming", "François", "Freja", "Frida", "Frederik", "Gabriel", "Gérard",
	"Grażyna", "Gitte", "Grete", "Gunnar", "Günther", "Hanne", "Hans-Jørgen", "Helle", "Henrik", "Holger", "Hüseyin", "Ida", "Inger", "Ingrid", "Iñaki",
	"Isabella", "Ivan", "Jakob", "Jan", "Jean-Luc", "Jens", "Jesper", "Joanna", "Johanne", "José", "Jürgen", "Kaare", "Karen", "Karoline", "Kasper",
	"Katarzyna", "Kirsten", "Kjeld", "Klaus", "Kristian", "Kåre", "Lærke", "Lars", "Laura", "Leif", "Leo", "Lene", "Łucja", "Louise", "Lucía",
	"Magnus", "Małgorzata", "Malene", "Malthe", "Margrethe", "Marie", "Mariana", "Marko", "Martin", "Mathilde", "Mads", "Mette", "Michał", "Mikkel", "Mohamed",
	"Morten", "Naja", "Nanna", "Niels", "Nikolaj", "Noor", "Ole", "Oliver", "Olivia", "Óscar", "Paweł", "Pernille", "Peter", "Pia", "Poul",
	"Rasmus", "Renée", "Rikke", "Robert", "Rosa", "Rune", "Saga", "Samir", "Sanne", "Sara", "Sebastián", "Signe", "Siobhán", "Sofie", "Søren",
	"Stanisław", "Steffen", "Stig", "Susanne", "Sven", "Šárka", "Thea", "Thomas", "Tina", "Tobias", "Torben", "Tove", "Trine", "Ulla", "Valdemar",
	"Vibeke", "Victor", "Viggo", "Wanda", "William", "Xavier", "Yasmin", "Yusuf", "Zofia", "Zoë",
}

var familyNames = []string{
	"Abildgaard", "Ågård", "Ahmadi", "Albrechtsen", "Ali", "Álvarez", "Andersen", "Andreasen", "Aßmann", "Bach", "Bæk", "Bækgaard", "Bak", "Bang", "Bech",
	"Berg", "Bertelsen", "Bjerregård", "Błaszczyk", "Bøgh", "Bonde", "Brandt", "Bruun", "Buch", "Cárdenas", "Carlsen", "Çelik", "Christensen", "Christiansen", "Clausen",
	"Conti", "Dahlgaard", "Dalsgård", "D'Angelo", "D'Arcy", "Davidsen", "De la Cruz", "Đorđević", "Dubois", "Eriksen", "Eskildsen", "Fałek", "Fernández", "Fischer", "Frandsen",
	"Frederiksen", "Friis", "Garcia", "Gjerløv", "González", "Gravesen", "Großmann", "Gundersen", "Haas", "Hald", "Hansen", "Hedegård", "Heßler", "Holst", "Højgaard",
	"Hussain", "Ibsen", "Iversen", "Jacobsen", "Jæger", "Jakobsen", "Jankowski", "Jensen", "Jeppesen", "Jespersen", "Johansen", "Johnson", "Jørgensen", "Juhl", "Justesen",
	"Kaczmarek", "Karlsen", "Kaya", "Khan", "Kjær", "Kjærgaard", "Klein", "Knudsen", "Koch", "Kofoed", "Kowalczyk", "Kragh", "Kristensen", "Kristiansen", "Krogh",
	"Larsen", "Lassen", "Laursen", "Lauridsen", "Lefèvre", "Lind", "Łukasik", "Lund", "Lundsgård", "Madsen", "Markussen", "Martínez", "Mathiesen", "Meßmer", "Michelsen",
	"Mikkelsen", "Møller", "Mogensen", "Mortensen", "Müller", "Munk", "Muñoz", "Nguyen", "Nielsen", "Nissen", "Nørgaard", "Nowak", "Núñez", "O'Connor", "O'Donnell",
	"Olesen", "Olsen", "O'Neill", "Ørsted", "Øster", "Ostrowski", "Overgård", "Özdemir", "Paulsen", "Peña", "Pedersen", "Petersen", "Poulsen", "Quist", "Rasmussen",
	"Ravn", "Riis", "Rodríguez", "Rosén", "Rossi", "Ruiz", "Sánchez", "Schäfer", "Schmidt", "Schou", "Simonsen", "Skov", "Søgaard", "Sørensen", "Steffensen",
	"Strauß", "Svendsen", "Szymański", "Tadić", "Thomsen", "Thorsen", "Thygesen", "Toft", "Tóth", "Ullmann", "Vestergård", "Villadsen", "Vinther", "Wagner", "Weiß",
	"Winther", "Wójcik", "Yıldız", "Zawadzki", "Željković", "Zimmermann",
}
