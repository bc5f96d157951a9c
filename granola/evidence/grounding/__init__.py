"""Long answers from passages of which only some are relevant: are they grounded, do they deflect, do they cite?"""
