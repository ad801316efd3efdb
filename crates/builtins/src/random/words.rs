//! The words that names are made of. Names that were made stay in states, so words are added, never taken away.

/// What may stand in front.
#[rustfmt::skip]
pub(super) const ADVERBS: &[&str] = &[
    "boldly", "bravely", "briefly", "brightly", "calmly", "clearly", "closely", "daily", "dearly", "deeply",
    "directly", "early", "easily", "evenly", "exactly", "fairly", "finely", "firmly", "firstly", "fondly",
    "freely", "freshly", "fully", "gently", "gladly", "greatly", "highly", "hugely", "jointly", "justly",
    "keenly", "kindly", "largely", "lightly", "likely", "lively", "loudly", "mainly", "merely", "mildly",
    "mostly", "mutually", "namely", "nearly", "neatly", "newly", "nicely", "nobly", "openly", "partly",
    "plainly", "promptly", "properly", "purely", "quickly", "quietly", "rarely", "readily", "really",
    "rightly", "safely", "simply", "slowly", "smoothly", "softly", "solely", "steadily", "strongly", "surely",
    "swiftly", "truly", "urgently", "usually", "vastly", "warmly", "wholly", "widely", "wildly", "wisely",
];

/// The word before the last.
#[rustfmt::skip]
pub(super) const ADJECTIVES: &[&str] = &[
    "able", "active", "agile", "alert", "ample", "apt", "awake", "aware", "basic", "blithe", "bold", "brave",
    "brief", "bright", "brisk", "calm", "careful", "certain", "cheerful", "civil", "clean", "clear", "clever",
    "close", "cool", "cosy", "crisp", "curious", "dapper", "daring", "dear", "deep", "devoted", "direct",
    "eager", "early", "earnest", "easy", "elegant", "eminent", "epic", "equal", "even", "exact", "expert",
    "fair", "famous", "fancy", "fast", "fine", "firm", "fit", "fluent", "fond", "frank", "free", "fresh",
    "full", "gentle", "genuine", "glad", "golden", "grand", "great", "handy", "happy", "hardy", "hearty",
    "helpful", "holy", "honest", "humble", "ideal", "immune", "joyful", "just", "keen", "kind", "known",
    "large", "lasting", "light", "likely", "living", "logical", "loved", "loyal", "lucky", "main", "major",
    "merry", "mighty", "model", "modern", "modest", "moral", "native", "neat", "new", "nice", "nimble",
    "noble", "normal", "novel", "open", "optimal", "patient", "perfect", "pleased", "poised", "polite",
    "prime", "prompt", "proper", "proud", "pure", "quick", "quiet", "rapid", "rare", "ready", "real",
    "regular", "relaxed", "rich", "right", "robust", "romantic", "sacred", "safe", "sensible", "sharp",
    "shining", "simple", "sincere", "skilled", "smart", "smooth", "social", "solid", "sound", "special",
    "square", "stable", "steady", "sterling", "strong", "sunny", "super", "sure", "sweet", "swift", "tender",
    "thankful", "tidy", "tolerant", "top", "touching", "trusty", "unique", "upright", "useful", "valid",
    "valued", "vast", "verified", "vital", "vocal", "warm", "wealthy", "welcome", "well", "whole", "willing",
    "wise", "witty", "worthy", "young",
];

/// The last word.
#[rustfmt::skip]
pub(super) const ANIMALS: &[&str] = &[
    "adder", "albatross", "alpaca", "anchovy", "ant", "antelope", "ape", "asp", "badger", "barnacle", "bass",
    "bat", "bear", "beaver", "bee", "beetle", "bison", "boar", "bobcat", "buffalo", "bull", "bunny",
    "buzzard", "camel", "cardinal", "caribou", "cat", "chamois", "cheetah", "chicken", "chipmunk", "civet",
    "clam", "cobra", "cod", "colt", "condor", "cougar", "cow", "coyote", "crab", "crane", "crayfish",
    "cricket", "crow", "cuckoo", "deer", "dingo", "dog", "dolphin", "donkey", "dory", "dove", "dragonfly",
    "drake", "duck", "eagle", "earwig", "eel", "egret", "eland", "elephant", "elk", "emu", "ermine", "falcon",
    "fawn", "ferret", "finch", "firefly", "flamingo", "flounder", "fly", "foal", "fowl", "fox", "frog",
    "gannet", "gar", "gazelle", "gecko", "gelding", "gibbon", "giraffe", "glider", "gnat", "gnu", "goat",
    "goldfish", "goose", "gopher", "gorilla", "goshawk", "grebe", "grouse", "gull", "guppy",
    "haddock", "halibut", "hamster", "hare", "hawk", "hedgehog", "hen", "heron", "herring", "hippo", "hornet",
    "horse", "hound", "husky", "hyena", "ibex", "ibis", "iguana", "impala", "jackal", "jackdaw", "jaguar",
    "jay", "jennet", "kangaroo", "kestrel", "kid", "killdeer", "kingfisher", "kite", "kitten", "kiwi",
    "koala", "kodiak", "krill", "lamb", "lamprey", "lark", "lemming", "lemur", "leopard", "limpet", "lion",
    "lizard", "llama", "lobster", "locust", "loon", "louse", "lynx", "macaque", "macaw", "mackerel", "magpie",
    "mallard", "mammoth", "manatee", "mantis", "marlin", "marmot", "marten", "martin", "mastiff", "mayfly",
    "meerkat", "merlin", "midge", "mink", "minnow", "mole", "molly", "mongoose", "monkey", "moose",
    "mosquito", "moth", "mouse", "mule", "mullet", "muskrat", "mussel", "narwhal", "newt", "ocelot",
    "octopus", "okapi", "opossum", "orca", "oriole", "oryx", "osprey", "ostrich", "otter", "owl", "ox",
    "oyster", "panda", "panther", "parakeet", "parrot", "peacock", "pelican", "penguin", "perch", "pheasant",
    "pig", "pigeon", "pika", "pike", "piranha", "plover", "polecat", "pony", "porpoise", "possum", "prawn",
    "puffin", "pug", "puma", "python", "quail", "rabbit", "raccoon", "ram", "raptor", "raven", "ray",
    "redfish", "reindeer", "rhino", "robin", "rook", "rooster", "sailfish", "salmon", "sardine", "sawfish",
    "scallop", "scorpion", "seahorse", "seal", "shark", "sheep", "shepherd", "shrew", "shrimp", "skink",
    "skunk", "skylark", "sloth", "slug", "snail", "snake", "snipe", "sole", "sparrow", "spider", "sponge",
    "squid", "squirrel", "stag", "starfish", "starling", "stoat", "stork", "sturgeon", "sunbird", "sunfish",
    "swallow", "swan", "swift", "tadpole", "tahr", "tapir", "tarpon", "tern", "terrapin", "terrier", "tetra",
    "thrush", "tiger", "toad", "tortoise", "toucan", "trout", "tuna", "turkey", "turtle", "urchin", "viper",
    "vole", "vulture", "wallaby", "walleye", "walrus", "warbler", "warthog", "wasp", "weasel", "weevil",
    "whale", "whippet", "whiting", "wildcat", "wolf", "wombat", "woodcock", "wren", "yak", "zebra",
];
