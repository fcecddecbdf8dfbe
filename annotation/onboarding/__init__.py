"""ONBOARDING: from an invitation to the first example that counts: consent, background, warm-up, qualification."""
