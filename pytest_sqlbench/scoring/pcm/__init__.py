"""PCM-F1 and PCM-EM as the official SEDE evaluator gives them: cleaning, grammar, components, matching. All pure."""
