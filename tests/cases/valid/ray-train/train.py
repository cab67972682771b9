def main():
    print('step')


main()
