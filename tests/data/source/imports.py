"""A module that nobody has."""
import no_such_package_anywhere
