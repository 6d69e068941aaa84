"""Files for colleagues: what a panel shows as one page that opens from a disk, without Python and without a network.

The scripts of the panel draw it. In the place of the kernel, a script answers from data that Python has computed:
which products have which values, what is searched, in which order, and the blocks of every card.
"""
