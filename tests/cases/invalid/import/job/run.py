import lexicon

print(lexicon)
